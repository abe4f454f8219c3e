"""Which repository is meant: the one around the working directory, a work tree, a bare one, or a bundle."""

from __future__ import annotations

import os

from kiplint.sources.cleanup import at_end
from kiplint.sources.objects import NoRepositoryError, Objects
from kiplint.sources.process import complaint, environment, finish, start
from kiplint.sources.schema_files import SourceError
from kiplint.text.files import read_file

_opened: dict[tuple[str, str], Objects] = {}
_unpacked: dict[tuple[str, int, int], str] = {}


def open_repository(repository: str | None) -> Objects:
    """The objects of a repository; all that ask for it in this process share them.

    Git looks for it as it always does, so that it refuses one that belongs to somebody else (`safe.directory`). Raises
    SourceError for a repository that does not exist and for a bundle that cannot be unpacked. That a directory is no
    repository shows at the first question.
    """
    place = os.path.realpath(repository or os.curdir)
    key = place, "elsewhere" if repository else os.environ.get("GIT_DIR", "")
    if key not in _opened or not _opened[key].open:
        _opened[key] = _open(repository, place) if repository else Objects(place, (), elsewhere=False)
    return _opened[key]


def own_repository(place: str, name: str) -> Objects:
    """The objects of a repository for one caller alone, such as a thread, who closes them.

    `name` is what errors call it. Raises SourceError as `open_repository` does.
    """
    return _open(name, os.path.realpath(place))


def close_repositories() -> None:
    """Stop the git processes of all that were opened; opening again afterwards works."""
    while _opened:
        _opened.popitem()[1].close()


def _open(repository: str, place: str) -> Objects:
    if os.path.isdir(place):
        if not _is_bare(place):
            return Objects(repository, ("-C", place), elsewhere=True)
        # Whoever names a bare repository means it; `safe.bareRepository` is about those that git comes across.
        options = ("-c", "safe.bareRepository=all", "-C", place)
        return Objects(repository, options, elsewhere=True, ceiling=os.path.dirname(place))
    try:
        beginning = read_file(place, 16, cut=True)
    except OSError as error:
        raise SourceError(f"cannot read the repository {repository}: {error.strerror}") from None
    if beginning.startswith(b"gitdir:") and os.path.basename(place) == ".git":
        return Objects(repository, ("-C", os.path.dirname(place)), elsewhere=True)
    if is_bundle(place):
        return Objects(repository, (f"--git-dir={unpacked(repository, place)}",), elsewhere=True)
    raise NoRepositoryError(f"neither a git repository nor a bundle: {repository}")


def is_bundle(path: str) -> bool:
    """Whether a file is a git bundle."""
    beginning = read_file(path, 16, cut=True)
    return beginning.startswith(b"# v") and beginning.endswith(b" git bundle\n")


def is_repository(path: str) -> bool:
    """Whether a directory is a git repository: the top of a work tree, or a bare one."""
    return os.path.lexists(os.path.join(path, ".git")) or _is_bare(path)


def unpack(repository: str, bundle: str, directory: str) -> None:
    """Make an empty directory a bare repository with all that a bundle holds; raises SourceError for a broken one."""
    command = ["clone", "--mirror", "--quiet", "--template=", "--", bundle, directory]
    process = start(command, environment(elsewhere=True, protocols="file"))  # as git takes a bundle for
    _, stderr = finish(process)
    if process.returncode:
        raise SourceError(f"cannot read the bundle {repository}: {complaint(stderr)}")


def unpacked(repository: str, bundle: str) -> str:
    """A bundle as a bare repository that is there until this process ends; raises SourceError for a broken one."""
    from shutil import rmtree
    from tempfile import mkdtemp

    stat = os.stat(bundle)
    key = bundle, stat.st_size, stat.st_mtime_ns
    if not os.path.isdir(_unpacked.get(key, "")):
        directory = mkdtemp(prefix="kiplint-")
        at_end(lambda: rmtree(directory, ignore_errors=True))
        unpack(repository, bundle, directory)
        _unpacked[key] = directory
    return _unpacked[key]


def _is_bare(path: str) -> bool:
    return os.path.isfile(os.path.join(path, "HEAD")) and os.path.isdir(os.path.join(path, "objects"))
