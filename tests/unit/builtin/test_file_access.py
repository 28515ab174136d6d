"""Reading, writing, moving and listing by the filesystem server's own functions."""

import os
import stat
from pathlib import Path

import pytest

from mcp_patchbay.builtin.filesystem import files, listing
from mcp_patchbay.builtin.filesystem.folders import AllowedFolders, FileError
from mcp_patchbay.builtin.filesystem.sample import create_sample

posix = pytest.mark.skipif(os.name == "nt", reason="POSIX only")


@pytest.fixture
def allowed(tmp_path: Path) -> AllowedFolders:
    return AllowedFolders.from_options({"allowed_directories": [str(tmp_path)]})


def test_a_long_file_is_cut_with_a_note(allowed: AllowedFolders, tmp_path: Path) -> None:
    (tmp_path / "long").write_bytes(b"x" * (files.READ_LIMIT + 5))
    text = files.read_text(allowed.resolve("long"))
    assert len(text) < files.READ_LIMIT + 200
    assert "first 1,048,576 of 1,048,581 bytes" in text


@pytest.mark.parametrize(
    ("content", "head", "tail"),
    [
        ("1\n2\n3\n4\n", "1\n2", "3\n4"),
        ("1\n2\n3\n4", "1\n2", "3\n4"),
        ("1", "1", "1"),
        ("", "", ""),
        ("1\r\n2\r\n3\r\n", "1\n2", "2\n3"),
        ("a\n\n\n", "a\n", "\n"),
    ],
)
def test_head_and_tail_give_whole_lines(
    allowed: AllowedFolders, tmp_path: Path, content: str, head: str, tail: str
) -> None:
    (tmp_path / "f").write_bytes(content.encode())
    assert files.read_head(allowed.resolve("f"), 2) == head
    assert files.read_tail(allowed.resolve("f"), 2) == tail


def test_the_last_lines_of_a_big_file_need_not_be_searched_from_its_start(
    allowed: AllowedFolders, tmp_path: Path
) -> None:
    (tmp_path / "f").write_bytes(b"".join(b"line %d \xc3\xa4\n" % number for number in range(300_000)))
    assert files.read_tail(allowed.resolve("f"), 2) == "line 299998 ä\nline 299999 ä"
    assert files.read_tail(allowed.resolve("f"), 10_000).startswith("line 290000 ä\n")


def test_a_line_without_end_is_cut(allowed: AllowedFolders, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"x" * (files.LINES_LIMIT + 10))
    assert files.read_head(allowed.resolve("f"), 1).endswith("bytes together.]")
    assert files.read_tail(allowed.resolve("f"), 1).endswith("bytes together.]")


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("ä".encode("utf-8-sig"), "ä"),
        ("ä".encode("utf-16"), "ä"),
        (b"\xe4", "\ufffd"),
        (b"a\r\nb", "a\nb"),
    ],
)
def test_text_is_decoded_by_its_mark(allowed: AllowedFolders, tmp_path: Path, raw: bytes, text: str) -> None:
    (tmp_path / "f").write_bytes(raw)
    assert files.read_text(allowed.resolve("f")) == text


def test_a_binary_file_is_said_to_be_one(allowed: AllowedFolders, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"\x89PNG\r\n\0\0")
    with pytest.raises(FileError, match="binary"):
        files.read_text(allowed.resolve("f"))


def test_a_file_that_is_not_utf8_is_not_edited(allowed: AllowedFolders, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"\xe4")
    with pytest.raises(FileError, match="not UTF-8"):
        files.read_exactly(allowed.resolve("f"), 100)


def test_a_file_that_is_too_big_is_not_edited(allowed: AllowedFolders, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"x" * 101)
    with pytest.raises(FileError, match="too big"):
        files.read_exactly(allowed.resolve("f"), 100)


def test_reading_a_folder_says_so(allowed: AllowedFolders, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    with pytest.raises(FileError, match="is a folder"):
        files.read_text(allowed.resolve("sub"))


@posix
def test_a_pipe_is_refused_and_does_not_block(allowed: AllowedFolders, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileError, match="no regular file"):
        files.read_text(allowed.resolve("pipe"))
    with pytest.raises(FileError):
        files.write_text(allowed.resolve("pipe"), "x")


@posix
def test_writing_keeps_the_mode_and_leaves_nothing_behind(allowed: AllowedFolders, tmp_path: Path) -> None:
    (tmp_path / "run.sh").write_text("old")
    (tmp_path / "run.sh").chmod(0o750)
    files.write_text(allowed.resolve("run.sh"), "new")
    assert (tmp_path / "run.sh").read_text() == "new"
    assert stat.S_IMODE((tmp_path / "run.sh").stat().st_mode) == 0o750
    assert os.listdir(tmp_path) == ["run.sh"]


@posix
def test_a_write_that_fails_leaves_the_old_text(
    allowed: AllowedFolders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "f").write_text("old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        files.write_text(allowed.resolve("f"), "new")
    assert (tmp_path / "f").read_text() == "old"
    assert os.listdir(tmp_path) == ["f"]


@posix
def test_writing_to_a_link_changes_what_it_leads_to(allowed: AllowedFolders, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("old")
    (tmp_path / "link").symlink_to("f")
    files.write_text(allowed.resolve("link"), "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "f").read_text() == "new"


def test_moving_never_replaces_anything(allowed: AllowedFolders, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    (tmp_path / "b").write_text("b")
    with pytest.raises(FileError, match="already exists"):
        files.move(allowed.resolve_entry("a"), allowed.resolve_entry("b"))
    files.move(allowed.resolve_entry("a"), allowed.resolve_entry("c"))
    assert sorted(os.listdir(tmp_path)) == ["b", "c"]


@posix
def test_moving_a_link_moves_the_link(allowed: AllowedFolders, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x")
    (tmp_path / "link").symlink_to("f")
    files.move(allowed.resolve_entry("link"), allowed.resolve_entry("renamed"))
    assert (tmp_path / "renamed").is_symlink()
    assert (tmp_path / "f").exists()


def test_an_allowed_folder_itself_cannot_be_moved(allowed: AllowedFolders, tmp_path: Path) -> None:
    with pytest.raises(FileError, match="allowed folder itself"):
        files.move(allowed.resolve(str(tmp_path)), allowed.resolve_entry("x"))


def test_a_folder_with_too_many_entries_is_cut_everywhere(
    allowed: AllowedFolders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(8):
        (tmp_path / f"{number}.txt").touch()
    monkeypatch.setattr(listing, "LIST_LIMIT", 5)
    monkeypatch.setattr(listing, "SEARCH_LIMIT", 5)
    assert listing.listing(allowed.resolve(str(tmp_path))).splitlines()[-1] == "[Cut: 3 more entries]"
    tree = listing.Tree()
    assert len(tree.build(allowed.resolve(str(tmp_path)))) == 5
    assert "first 5 entries" in tree.cut
    found = listing.search(allowed, allowed.resolve(str(tmp_path)), "*.txt")
    assert len(found) == 6
    assert "first 5 matches" in found[-1]


def test_a_search_stops_after_looking_at_very_much(
    allowed: AllowedFolders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(8):
        (tmp_path / f"{number}.txt").touch()
    monkeypatch.setattr(listing, "VISIT_LIMIT", 5)
    assert "looking at 5 entries" in listing.search(allowed, allowed.resolve(str(tmp_path)), "*.md")[-1]


def test_a_very_deep_tree_is_cut(allowed: AllowedFolders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "1/2/3/4").mkdir(parents=True)
    monkeypatch.setattr(listing, "TREE_DEPTH", 2)
    tree = listing.Tree()
    leaf = {"name": "2", "type": "directory", "children": []}
    assert tree.build(allowed.resolve(str(tmp_path))) == [{"name": "1", "type": "directory", "children": [leaf]}]
    assert "below 2 levels" in tree.cut


@posix
def test_search_does_not_follow_links_and_hides_those_that_lead_out(
    tmp_path: Path,
) -> None:
    (tmp_path / "in/sub").mkdir(parents=True)
    (tmp_path / "out").mkdir()
    (tmp_path / "out/x.md").touch()
    (tmp_path / "in/sub/a.md").touch()
    (tmp_path / "in/loop").symlink_to(".")
    (tmp_path / "in/away").symlink_to(tmp_path / "out")
    (tmp_path / "in/x.md").symlink_to(tmp_path / "out/x.md")
    allowed = AllowedFolders.from_options({"allowed_directories": [str(tmp_path / "in")]})
    found = listing.search(allowed, allowed.resolve("."), "**")
    root = (tmp_path / "in").resolve()
    assert found == [str(root / name) for name in ("loop", "sub", "sub/a.md")]


def test_excluded_folders_are_not_entered(allowed: AllowedFolders, tmp_path: Path) -> None:
    for path in ("src/a.py", "node_modules/b.py", "src/node_modules/c.py", ".git/d.py"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    top = allowed.resolve(str(tmp_path))
    tree = listing.Tree(["node_modules", ".git"]).build(top)
    assert [node["name"] for node in tree] == ["src"]
    assert [node["name"] for node in tree[0]["children"]] == ["a.py"]
    found = listing.search(allowed, top, "**/*.py", ["**/node_modules/**"])
    assert [Path(path).name for path in found] == ["d.py", "a.py"]


def test_a_pattern_that_is_none_is_refused(allowed: AllowedFolders, tmp_path: Path) -> None:
    with pytest.raises(FileError, match="pattern"):
        listing.search(allowed, allowed.resolve(str(tmp_path)), "[a")


def test_the_sample_folder_is_made_once(tmp_path: Path) -> None:
    assert create_sample(tmp_path / "sample")
    names = {path.relative_to(tmp_path / "sample").as_posix() for path in (tmp_path / "sample").rglob("*.*")}
    assert names == {"welcome.md", "plants.csv", "notes/ideas.md", "notes/shopping-list.md"}
    (tmp_path / "sample" / "welcome.md").unlink()
    assert not create_sample(tmp_path / "sample")
    assert not (tmp_path / "sample" / "welcome.md").exists()
