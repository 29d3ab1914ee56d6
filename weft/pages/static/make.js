// What all pages need: elements, and questions to the server.
"use strict";

// Text goes into a page as text, never as markup.
export function make(kind, parts, attributes) {
  const element = document.createElement(kind);
  for (const part of [].concat(parts ?? [])) element.append(part);
  for (const [name, value] of Object.entries(attributes || {})) element.setAttribute(name, value);
  return element;
}

// A token comes with the address once, and is kept for this window.
const given = new URLSearchParams(location.search).get("token");
if (given) { sessionStorage.setItem("token", given); history.replaceState(null, "", location.pathname); }

export function ask(path, options) {
  const token = sessionStorage.getItem("token");
  const headers = token ? { Authorization: "Bearer " + token } : {};
  return fetch(path, { ...options, headers });
}
