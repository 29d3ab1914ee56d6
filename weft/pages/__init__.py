"""Web pages for people: the trace, the state of a server, and the HTTP server that shows them."""
