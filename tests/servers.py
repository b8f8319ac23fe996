"""Database servers of Debian's packages, on a socket in a folder of their own, without a port.

They run as an ordinary user, whoever runs the tests: PostgreSQL refuses root.
"""

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

PACKAGES = {"postgres": "postgresql", "mariadbd": "mariadb-server"}
WAIT_SECONDS = 60


def missing(program):
    """Why there is no such server; empty if there is one."""
    if _found(program):
        return ""
    return f"no {program} to run SQL in: install the package {PACKAGES[program]}"


@contextmanager
def postgres():
    """A connection to a new PostgreSQL."""
    import psycopg

    with _folder() as (folder, as_user):
        data = folder / "data"
        who = ("-U", "tester", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        _run([_found("initdb"), "-D", data, *who], as_user)
        options = ("-c", "fsync=off", "-c", "listen_addresses=")
        server = [_found("postgres"), "-D", data, "-k", folder, *options]

        def connected():
            return psycopg.connect(
                host=str(folder), user="tester", dbname="postgres", autocommit=True
            )

        with _serving(server, as_user, connected, psycopg.OperationalError) as connection:
            yield connection


@contextmanager
def mariadb():
    """A connection to a new MariaDB."""
    import pymysql

    with _folder() as (folder, as_user):
        data, socket = folder / "data", folder / "socket"
        _run(["mkdir", data], as_user)
        options = ["--skip-networking", "--skip-grant-tables", "--skip-log-bin"]
        # without accounts and without InnoDB there is nothing to set up
        options += ["--skip-innodb", "--default-storage-engine=Aria", f"--pid-file={folder}/pid"]
        places = [f"--datadir={data}", f"--socket={socket}"]
        server = [_found("mariadbd"), "--no-defaults", *places, *options]

        def connected():
            if not socket.exists():  # pymysql would leave a socket of its own open
                raise pymysql.OperationalError
            connection = pymysql.connect(
                unix_socket=str(socket), charset="utf8mb4", autocommit=True
            )
            connection.cursor().execute("CREATE DATABASE tests CHARACTER SET utf8mb4")
            connection.select_db("tests")
            return connection

        with _serving(server, as_user, connected, pymysql.OperationalError) as connection:
            yield connection


def _found(program):
    """A program; Debian keeps those of PostgreSQL apart."""
    apart = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{program}"), reverse=True)
    places = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin"])
    return shutil.which(program, path=places) or next(map(str, apart), None)


@contextmanager
def _folder():
    """A folder with a short name, for sockets, and what makes a process its owner's."""
    folder, as_user = Path(tempfile.mkdtemp(prefix="conjunct-")), {}
    if os.geteuid() == 0:
        nobody = pwd.getpwnam("nobody")
        as_user = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        os.chown(folder, nobody.pw_uid, nobody.pw_gid)
    try:
        yield folder, as_user
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run(command, as_user):
    command = list(map(str, command))
    done = subprocess.run(command, capture_output=True, text=True, cwd="/", **as_user)
    assert done.returncode == 0, done.stdout + done.stderr


@contextmanager
def _serving(command, as_user, connected, refused):
    with tempfile.TemporaryFile() as log:
        command = list(map(str, command))
        server = subprocess.Popen(command, stdout=log, stderr=log, cwd="/", **as_user)
        try:
            give_up = time.monotonic() + WAIT_SECONDS
            while True:
                try:
                    connection = connected()
                    break
                except refused:
                    if server.poll() is None and time.monotonic() < give_up:
                        time.sleep(0.05)
                        continue
                    log.seek(0)
                    raise AssertionError(log.read().decode(errors="replace")) from None
            yield connection
            connection.close()
        finally:
            server.terminate()
            server.wait()
