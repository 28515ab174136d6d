"""The text of `servers.json`, changed only where a server changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcp_patchbay.domain.servers import (
    COMMON_KEYS,
    BuiltinServer,
    HttpServer,
    InvalidServer,
    ServerSpec,
    StdioServer,
    read_server,
)
from mcp_patchbay.stores import jsonc
from mcp_patchbay.stores.config_text import normal_entry

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NEW_FILE = '{\n  "version": 1,\n  "servers": {}\n}\n'
_OUR_KEYS = COMMON_KEYS | StdioServer.keys | HttpServer.keys | BuiltinServer.keys


@dataclass
class ServersText:
    """A document, its outermost object, and the object in it that holds the servers."""

    document: jsonc.Document
    root: jsonc.Object
    servers: jsonc.Object

    @classmethod
    def of(cls, text: str) -> ServersText:
        """Read a text that is known to be good; an empty one gives a new file."""
        document = jsonc.parse(text or NEW_FILE)
        root = document.root
        assert isinstance(root, jsonc.Object)
        key = cls.key_in(root)
        member = root.member(key)
        if member is None:
            member = document.insert(root, len(root.members), key, {}, "")
        if not isinstance(member.value, jsonc.Object):
            member.value = jsonc.Object()
        return cls(document, root, member.value)

    @staticmethod
    def key_in(root: jsonc.Leaf | jsonc.Object) -> str:
        """The key under which the servers are: ours is `servers`, but a file of other clients does too."""
        return "mcpServers" if "servers" not in root.value and "mcpServers" in root.value else "servers"

    def render(self) -> str:
        return self.document.render()

    def change(
        self, before: Sequence[ServerSpec], after: Sequence[ServerSpec], kept: Mapping[str, str]
    ) -> dict[str, str]:
        """Turn the servers `before`, which are in the text, into `after`.

        `kept` has the texts of entries that were removed earlier, by id: one that comes back as it was gets its text,
        with its comments, again. Returns the texts of those that are removed now.
        """
        old = {spec.id: spec for spec in before}
        new = {spec.id: spec for spec in after}
        removed = {}
        for spec in before:
            member = self.servers.member(spec.name)
            if spec.id not in new and member is not None:
                removed[spec.id] = member.value.render()
                self.servers.remove(spec.name)
        members = {spec.id: self.servers.member(spec.name) for spec in before if spec.id in new}
        indent = self.document.child_indent(self.root, "")
        for spec in after:
            member = members.get(spec.id)
            if member is not None:
                self._edit(member, old[spec.id], spec, indent)
        self._arrange(after, members, indent, kept)
        return removed

    def _edit(self, member: jsonc.Member, old: ServerSpec, new: ServerSpec, indent: str) -> None:
        if member.key != new.name:
            member.rename(new.name)
        if isinstance(old.target, InvalidServer) and isinstance(new.target, InvalidServer):
            return
        node, child = member.value, self.document.child_indent(self.servers, indent)
        if isinstance(node, jsonc.Object):
            before, after = _written(old, node.value), new.to_mapping()
            if "disabled" in node.value or "status" in node.value:  # other tools' words: ours goes before them
                before, after = {**before, "enabled": old.enabled}, {**after, "enabled": new.enabled}
            self.document.update(node, before, after, child)
        if not _same(read_server(new.name, normal_entry(member.value.value)), new):
            member.value = self.document.node(new.to_mapping(), child)

    def _arrange(
        self,
        after: Sequence[ServerSpec],
        members: Mapping[str, jsonc.Member | None],
        indent: str,
        kept: Mapping[str, str],
    ) -> None:
        """Put the entries into their new order, and new ones between them."""
        servers = self.servers
        ending = servers.members[-1].comma if servers.members else False
        known = [member for spec in after if (member := members.get(spec.id)) is not None]
        servers.members = known
        for index, spec in enumerate(after):
            if members.get(spec.id) is None:
                member = self.document.insert(servers, index, spec.name, spec.to_mapping(), indent)
                text = kept.get(spec.id)
                if text is not None and _same(read_server(spec.name, normal_entry(jsonc.loads(text))), spec):
                    member.value = jsonc.parse(text).root
        self.document.set_commas(servers)
        if servers.members:
            servers.members[-1].comma = ending


def _written(spec: ServerSpec, raw: Mapping[str, Any]) -> dict[str, Any]:
    """What of a server stands in the file: an id may be missing there yet, and a broken entry is what it is."""
    if isinstance(spec.target, InvalidServer):
        return {key: value for key, value in raw.items() if key in _OUR_KEYS}
    return {key: value for key, value in spec.to_mapping().items() if key != "id" or raw.get("id") == spec.id}


def _same(found: ServerSpec, wanted: ServerSpec) -> bool:
    return found == wanted or (isinstance(found.target, InvalidServer) and isinstance(wanted.target, InvalidServer))
