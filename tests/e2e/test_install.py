# SPDX-License-Identifier: Apache-2.0
"""libweir as it is installed: a ten-line program in C and in C++, by pkg-config and by find_package, from what
`cmake --install` of the release build lays down."""
import os
import re
import shutil
import subprocess

import pytest
import weirserver

RELEASE = os.environ.get("WEIR_RELEASE_DIR", weirserver.BUILD)
RULES = "domain: d\ndescriptors:\n  - {key: k, rate_limit: {unit: year, requests_per_unit: 1}}\n"

PROGRAM = """\
#include <stdio.h>
#include <weir/client.h>
int main(int argc, char **argv) {
    struct weir_options options = {argc > 1 ? argv[1] : NULL, 10000, WEIR_FAIL_CLOSED, 0, false, 0};
    struct weir_client *client; struct weir_request request; struct weir_result result;
    if (weir_client_new(&options, &client, NULL) != WEIR_OK) return 2;
    weir_request_init(&request, weir_str("d")); weir_request_descriptor(&request);
    weir_request_entry(&request, weir_str("k"), weir_str("v"));
    printf("%s\\n", weir_err_name(weir_check(client, &request, &result)));
    weir_client_destroy(client); return weir_admits(&result) ? 0 : 1; }
"""

PROJECT = """\
cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES C CXX)
find_package(weir 0.1 REQUIRED)
add_executable(user_c user.c)
add_executable(user_cpp user.cpp)
target_link_libraries(user_c PRIVATE weir::client)
target_link_libraries(user_cpp PRIVATE weir::client)
"""

LANGUAGES = {"c": ["gcc", "-std=c11"], "cpp": ["g++", "-std=c++17"]}
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"]


def run(*words, **env):
    result = weirserver.run(*map(str, words), env=env, seconds=300)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """An install tree that was moved after it was laid down, and so leans on nothing outside itself."""
    first, moved = tmp_path_factory.mktemp("first") / "weir", tmp_path_factory.mktemp("moved") / "weir"
    run("cmake", "--install", RELEASE, "--prefix", first)
    shutil.move(first, moved)
    return moved


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sources")
    for name in ("user.c", "user.cpp"):
        (folder / name).write_text(PROGRAM, encoding="utf-8")
    (folder / "CMakeLists.txt").write_text(PROJECT, encoding="utf-8")
    return folder


def lib(prefix):
    """The folder of the library, whose name depends on the system."""
    found, = {os.path.dirname(p) for p in prefix.rglob("libweir.so")}
    return found


def admits_once(program, server, prefix):
    """The first check of a key is admitted, the second refused."""
    env = {"LD_LIBRARY_PATH": lib(prefix)}
    statuses = [subprocess.run([program, server.address], env=weirserver.clean_environment(env), check=False, timeout=weirserver.PATIENCE_SECONDS,
                               capture_output=True, text=True) for _ in range(2)]
    assert [(s.returncode, s.stdout) for s in statuses] == [(0, "ok\n"), (1, "ok\n")], [s.stderr for s in statuses]


@pytest.mark.parametrize("language", LANGUAGES)
def test_by_pkg_config(language, prefix, sources, tmp_path, launch):
    flags = run("pkg-config", "--cflags", "--libs", "weir", PKG_CONFIG_PATH=os.path.join(lib(prefix), "pkgconfig")).split()
    program = tmp_path / "user"
    run(*LANGUAGES[language], *WARNINGS, "-o", program, sources / f"user.{language}", *flags)
    admits_once(program, launch(RULES), prefix)


def test_by_find_package(prefix, sources, tmp_path, launch):
    run("cmake", "-G", "Ninja", "-S", sources, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", tmp_path / "build")
    for language in LANGUAGES:
        admits_once(tmp_path / "build" / f"user_{language}", launch(RULES), prefix)


def blocks_of_the_page(language):
    with open(os.path.join(weirserver.ROOT, "docs", "client.md"), encoding="utf-8") as f:
        section = f.read().split("\n## Install\n")[1].split("\n## ")[0]
    found = re.findall(rf"^```{language}\n(.*?)^```", section, re.M | re.S)
    assert found
    return found


def test_the_page_says_it_right_for_a_shell(tmp_path, launch):
    """Every command of the page, in its order."""
    (tmp_path / "guard.c").write_text(PROGRAM, encoding="utf-8")
    script = "\n".join(blocks_of_the_page("sh")).replace("/opt/weir", str(tmp_path / "opt"))
    script = script.replace("cmake --install build ", f"cmake --install {RELEASE} ").replace("127.0.0.1:8081", launch(RULES).address)
    assert str(RELEASE) in script
    result = weirserver.run("bash", "-euo", "pipefail", "-c", script, cwd=tmp_path, seconds=300)
    assert (result.returncode, result.stdout.splitlines()[-1:]) == (0, ["ok"]), result.stdout + result.stderr


def test_the_page_says_it_right_for_cmake(prefix, tmp_path, launch):
    snippet, = blocks_of_the_page("cmake")
    (tmp_path / "guard.c").write_text(PROGRAM, encoding="utf-8")
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(guard LANGUAGES C)\nadd_executable(guard guard.c)\n" + snippet, encoding="utf-8")
    run("cmake", "-G", "Ninja", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", tmp_path / "build")
    admits_once(tmp_path / "build" / "guard", launch(RULES), prefix)


def test_what_is_installed(prefix):
    names = {str(p.relative_to(prefix)) for p in prefix.rglob("*") if not p.is_dir()}
    base = os.path.relpath(lib(prefix), prefix)
    want = {"bin/weirctl", "include/weir/client.h", f"{base}/libweir.so", f"{base}/libweir.so.0", f"{base}/pkgconfig/weir.pc",
            f"{base}/cmake/weir/weirConfig.cmake", f"{base}/cmake/weir/weirConfigVersion.cmake"}
    assert want <= names, names
    assert not [n for n in names if n.endswith((".a", ".pb.h")) or "nanopb" in n], names


def test_the_library_names_its_version_and_no_more_than_it_exports(prefix):
    library = os.path.join(lib(prefix), "libweir.so")
    assert os.path.basename(os.path.realpath(library)) == "libweir.so." + version(prefix)
    assert "SONAME" in (dynamic := run("readelf", "-d", library))
    assert re.search(r"SONAME.*\[libweir\.so\.0\]", dynamic)
    names = run("nm", "-D", "--defined-only", library).split()[2::3]
    assert names and all(n.startswith("weir_") for n in names), names


def version(prefix):
    return run("pkg-config", "--modversion", "weir", PKG_CONFIG_PATH=os.path.join(lib(prefix), "pkgconfig")).strip()


def test_the_installed_tool_runs(prefix):
    assert run(prefix / "bin" / "weirctl", "--version") == f"weirctl {version(prefix)}\n"


def test_another_version_is_refused(prefix, sources, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(PROJECT.replace("weir 0.1", "weir 9.9"), encoding="utf-8")
    for name in ("user.c", "user.cpp"):
        shutil.copy(sources / name, tmp_path)
    result = weirserver.run("cmake", "-G", "Ninja", "-S", str(tmp_path), "-B", str(tmp_path / "build"), f"-DCMAKE_PREFIX_PATH={prefix}", seconds=300)
    assert result.returncode != 0
    assert "weir" in result.stderr
