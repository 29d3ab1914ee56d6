"""The menu above an answer."""

from __future__ import annotations

from weft.lib.debug.text import MAIN_MENU_KEY, Menu, MenuItem, RichTextLines

_OF_NODE = {
    "node_info": "node_info -a -d -t",
    "print_tensor": "print_tensor",
    "list_inputs": "list_inputs -c -r",
    "list_outputs": "list_outputs -c -r",
}


def add_main_menu(
    output: RichTextLines, node_name: str | None = None, off: tuple[str, ...] = ()
) -> RichTextLines:
    """Offers the other commands for the same node, those of `off` greyed out."""
    menu = Menu()
    menu.append(MenuItem("list_tensors", "list_tensors", enabled="list_tensors" not in off))
    for caption, command in _OF_NODE.items():
        content = f"{command} {node_name}" if node_name else None
        menu.append(MenuItem(caption, content, enabled=bool(node_name) and caption not in off))
    for caption in ("run_info", "help"):
        menu.append(MenuItem(caption, caption))
    output.annotations[MAIN_MENU_KEY] = menu
    return output
