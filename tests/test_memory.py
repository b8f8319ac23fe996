"""How much memory is left: by the machine and by each control group that holds the process."""

import pytest

from conjunct import memory
from conjunct.memory import available_bytes

GB = 10**9
V2 = ("cgroup2", "/sys/fs/cgroup", "")
V1 = ("cgroup", "/sys/fs/cgroup/memory", "memory")


@pytest.fixture
def system(tmp_path, monkeypatch):
    """A machine with 64 GB, as its files tell it."""

    def make(version, own, groups, top="/"):
        kind, mount, controller = version
        files = {
            "proc/meminfo": f"MemTotal: 9 kB\nMemAvailable: {64 * GB // 1024} kB\n",
            "proc/self/cgroup": f"7:cpu:/elsewhere\n4:{controller}:{own}\n",
            "proc/self/mountinfo": (
                f"30 20 0:1 / / rw - ext4 /dev/a rw\n"
                f"31 30 0:2 / /sys/fs/cgroup/cpu rw shared:3 - cgroup cgroup rw,cpu\n"
                f"32 30 0:3 {top} {mount} rw shared:4 - {kind} {kind} rw,{controller}\n"
            ),
        }
        for group, group_files in groups.items():
            for name, content in group_files.items():
                files[f"{mount[1:]}/{group}/{name}"] = content
        for name, content in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        monkeypatch.setattr(memory, "_ROOT", tmp_path)
        return available_bytes()

    return make


def v2(limit, used, cached=0, **more):
    stat = {"anon": used - cached, "inactive_file": cached} | more
    return {
        "memory.max": f"{limit}\n",
        "memory.current": f"{used}\n",
        "memory.stat": "".join(f"{key} {value}\n" for key, value in stat.items()),
    }


def v1(limit, used, cached=0):
    return {
        "memory.limit_in_bytes": f"{limit}\n",
        "memory.usage_in_bytes": f"{used}\n",
        "memory.stat": f"inactive_file 0\ntotal_inactive_file {cached}\n",
    }


@pytest.mark.parametrize(("version", "group"), [(V1, v1), (V2, v2)])
def test_copies_of_files_count_as_free(version, group, system):
    assert system(version, "/", {"": group(4 * GB, 3_990_000_000, 3_600_000_000)}) == 3_610_000_000


def test_files_read_twice_count_as_free_unless_programs_run_from_them(system):
    stat = {"active_file": 3 * GB, "file_mapped": GB}
    assert system(V2, "/", {"": v2(4 * GB, 4 * GB, **stat)}) == 2 * GB


@pytest.mark.parametrize(("version", "group"), [(V1, v1), (V2, v2)])
@pytest.mark.parametrize("tight", ["job/step", "job", ""])
def test_the_tightest_group_from_the_own_one_upwards(tight, version, group, system):
    groups = {name: group(8 * GB, GB) for name in ("job/step", "job", "")}
    groups["job/another"] = group(2, 1)
    groups[tight] = group(3 * GB, GB)
    assert system(version, "/job/step", groups) == 2 * GB


@pytest.mark.parametrize("own", ["/docker/abc/job", "/../outside"])
def test_a_container_that_sees_its_own_groups_only(own, system):
    groups = {"": v2(3 * GB, GB), "job": v2(5 * GB, GB)}
    assert system(V2, own, groups, top="/docker/abc") == 2 * GB


def test_where_the_system_slows_down_is_a_limit(system):
    assert system(V2, "/", {"": v2("max", GB) | {"memory.high": f"{2 * GB}\n"}}) == GB


def test_no_limit(system):
    assert system(V2, "/", {"": v2("max", GB)}) == 64 * GB // 1024 * 1024
    assert system(V1, "/", {"": v1(9223372036854771712, GB)}) == 64 * GB // 1024 * 1024
