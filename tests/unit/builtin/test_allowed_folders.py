"""Which paths the filesystem server may touch."""

import os
from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest

from mcp_patchbay.builtin.filesystem.files import move, read_text, write_text
from mcp_patchbay.builtin.filesystem.folders import AllowedFolders, FileError, Place, entries, is_inside, make_folders
from mcp_patchbay.domain.errors import ConfigError

needs_links = pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret.txt").write_text("secret")
    return folder


@pytest.fixture
def inside(tmp_path: Path) -> Path:
    folder = tmp_path / "a"
    folder.mkdir()
    (folder / "file.txt").write_text("hello")
    return folder


@pytest.fixture
def allowed(inside: Path) -> AllowedFolders:
    return AllowedFolders.from_options({"allowed_directories": [str(inside)]})


def test_a_folder_whose_name_only_begins_alike_is_outside(allowed: AllowedFolders, tmp_path: Path) -> None:
    (tmp_path / "ab").mkdir()
    with pytest.raises(FileError, match="outside the allowed folders"):
        allowed.resolve(str(tmp_path / "ab"))


def test_the_refusal_names_the_allowed_folders(allowed: AllowedFolders, inside: Path) -> None:
    with pytest.raises(FileError) as refusal:
        allowed.resolve("/etc/passwd")
    assert str(inside.resolve()) in str(refusal.value)


@pytest.mark.parametrize("path", ["../outside/secret.txt", "x/../../outside/secret.txt", "new/../../outside"])
def test_dots_do_not_lead_out(allowed: AllowedFolders, outside: Path, path: str) -> None:
    with pytest.raises(FileError, match="outside"):
        allowed.resolve(path)


@needs_links
@pytest.mark.parametrize("path", ["link", "link/secret.txt", "link/new.txt", "link/new/deep.txt", "link/../outside"])
def test_a_link_does_not_lead_out(allowed: AllowedFolders, inside: Path, outside: Path, path: str) -> None:
    (inside / "link").symlink_to(outside)
    with pytest.raises(FileError, match="outside"):
        allowed.resolve(path)


@needs_links
def test_a_dangling_link_does_not_create_a_file_outside(allowed: AllowedFolders, inside: Path, outside: Path) -> None:
    (inside / "link").symlink_to(outside / "not-yet.txt")
    with pytest.raises(FileError, match="outside"):
        allowed.resolve("link")


@needs_links
def test_a_link_within_the_folder_is_followed(allowed: AllowedFolders, inside: Path) -> None:
    (inside / "link").symlink_to("file.txt")
    assert allowed.resolve("link").path == inside.resolve() / "file.txt"


@needs_links
def test_links_in_a_ring_end_in_an_error(allowed: AllowedFolders, inside: Path) -> None:
    (inside / "one").symlink_to("two")
    (inside / "two").symlink_to("one")
    with pytest.raises((FileError, OSError)):
        read_text(allowed.resolve("one"))


@needs_links
def test_an_allowed_folder_may_be_a_link_itself(inside: Path, tmp_path: Path) -> None:
    (tmp_path / "way").symlink_to(inside)
    allowed = AllowedFolders.from_options({"allowed_directories": [str(tmp_path / "way")]})
    assert read_text(allowed.resolve(str(tmp_path / "way" / "file.txt"))) == "hello"
    assert read_text(allowed.resolve(str(inside / "file.txt"))) == "hello"


@needs_links
def test_a_folder_that_becomes_a_link_after_the_check_is_not_followed(
    allowed: AllowedFolders, inside: Path, outside: Path
) -> None:
    (inside / "sub").mkdir()
    (inside / "sub" / "secret.txt").write_text("harmless")
    read, written, made = (allowed.resolve(f"sub/{name}") for name in ("secret.txt", "new.txt", "folder"))
    listed, moved = allowed.resolve("sub"), allowed.resolve_entry("file.txt")
    (inside / "sub").rename(inside / "was-sub")
    (inside / "sub").symlink_to(outside)
    with pytest.raises(OSError):  # noqa: PT011 the number differs by system
        read_text(read)
    with pytest.raises(OSError):  # noqa: PT011
        write_text(written, "leaked")
    with pytest.raises(OSError):  # noqa: PT011
        make_folders(made)
    with pytest.raises(OSError):  # noqa: PT011
        entries(listed)
    with pytest.raises(OSError):  # noqa: PT011
        move(moved, written)
    assert [path.name for path in outside.iterdir()] == ["secret.txt"]


@needs_links
def test_a_file_that_becomes_a_link_after_the_check_is_not_read(
    allowed: AllowedFolders, inside: Path, outside: Path
) -> None:
    place = allowed.resolve("file.txt")
    (inside / "file.txt").unlink()
    (inside / "file.txt").symlink_to(outside / "secret.txt")
    with pytest.raises(OSError):  # noqa: PT011
        read_text(place)


def test_a_relative_path_is_found_in_the_folder_that_has_it(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    (tmp_path / "two" / "here.txt").write_text("x")
    allowed = AllowedFolders.from_options({"allowed_directories": [str(tmp_path / "one"), str(tmp_path / "two")]})
    assert allowed.resolve("here.txt").folder == (tmp_path / "two").resolve()
    assert allowed.resolve("nowhere.txt").folder == (tmp_path / "one").resolve()


def test_a_tilde_stands_for_the_home_folder(monkeypatch: pytest.MonkeyPatch, inside: Path) -> None:
    monkeypatch.setenv("HOME", str(inside))
    monkeypatch.setenv("USERPROFILE", str(inside))
    allowed = AllowedFolders.from_options({"allowed_directories": ["~"]})
    assert allowed.resolve("~/file.txt").path == inside.resolve() / "file.txt"


@pytest.mark.parametrize("path", ["", "  ", "a\0b"])
def test_what_is_no_path_is_refused(allowed: AllowedFolders, path: str) -> None:
    with pytest.raises(FileError):
        allowed.resolve(path)


@needs_links
def test_a_windows_path_is_refused_elsewhere(allowed: AllowedFolders) -> None:
    with pytest.raises(FileError, match="Windows path"):
        allowed.resolve("C:\\Users\\me\\file.txt")


@pytest.mark.parametrize(
    ("path", "folder", "is_in"),
    [
        (PureWindowsPath(r"C:\Users\Me\Docs\a.txt"), PureWindowsPath(r"c:\users\me\docs"), True),
        (PureWindowsPath(r"C:\Users\Me\Docs2"), PureWindowsPath(r"C:\Users\Me\Docs"), False),
        (PureWindowsPath(r"D:\Docs"), PureWindowsPath(r"C:\Docs"), False),
        (PurePosixPath("/a/B"), PurePosixPath("/a/b"), False),
        (PurePosixPath("/a/b/c"), PurePosixPath("/a/b"), True),
        (PurePosixPath("/a/b"), PurePosixPath("/"), True),
    ],
)
def test_case_matters_where_the_system_says_so(path: PurePosixPath, folder: PurePosixPath, is_in: bool) -> None:
    assert is_inside(path, folder) is is_in


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"allowed_directories": []},
        {"allowed_directories": "x"},
        {"allowed_directories": [3]},
        {"allowed_directories": ["relative/folder"]},
    ],
)
def test_options_without_folders_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(ConfigError) as refusal:
        AllowedFolders.from_options(options)
    assert refusal.value.field == "options.allowed_directories"


def test_an_allowed_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="missing-folder does not exist"):
        AllowedFolders.from_options({"allowed_directories": [str(tmp_path / "missing-folder")]})


def test_a_file_is_no_allowed_folder(inside: Path) -> None:
    with pytest.raises(ConfigError, match="is not a folder"):
        AllowedFolders.from_options({"allowed_directories": [str(inside / "file.txt")]})


def test_missing_folders_are_made_and_a_file_in_the_way_is_an_error(allowed: AllowedFolders, inside: Path) -> None:
    make_folders(allowed.resolve("x/y/z"))
    make_folders(allowed.resolve("x/y/z"))
    assert (inside / "x/y/z").is_dir()
    with pytest.raises(OSError):  # noqa: PT011
        make_folders(allowed.resolve("file.txt/z"))


def test_the_place_of_a_folder_itself_has_no_parts(allowed: AllowedFolders, inside: Path) -> None:
    assert allowed.resolve(str(inside)) == Place(inside.resolve(), ())
