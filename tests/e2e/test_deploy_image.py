# SPDX-License-Identifier: Apache-2.0
"""deploy/Dockerfile against the release build, the scripts and the Deployment.

No container engine is asked for: what its lines say is compared with what is built here, and the
configuring step is run on the files that it copies.
"""
import json
import os
import re
import shlex
import shutil

import manifests
import weirserver

DOCKERFILE = os.path.join(weirserver.ROOT, "deploy", "Dockerfile")
RELEASE = os.path.join(weirserver.BUILD, "bin")
SOURCE_FOLDER = "/src"


def stages():
    """[[(instruction, its text)]], a list for each FROM."""
    with open(DOCKERFILE, encoding="utf-8") as f:
        text = re.sub(r"^#.*\n", "", f.read(), flags=re.M).replace("\\\n", " ")
    found = []
    for line in filter(None, map(str.strip, text.splitlines())):
        word, _, rest = line.partition(" ")
        if word == "FROM":
            found.append([])
        found[-1].append((word, rest.strip()))
    return found


def all_of(stage, word):
    return [rest for w, rest in stage if w == word]


def only(stage, word):
    rest, = all_of(stage, word)
    return rest


def installed(stage):
    """The packages that a stage installs."""
    words = shlex.split(next(r for r in all_of(stage, "RUN") if "apt-get install" in r))
    rest = words[words.index("install") + 1:]
    return {w for w in rest[:rest.index("&&")] if not w.startswith("-")}


def copied(stage, from_stage):
    """[([source], target)] of the COPY lines."""
    lines = [r.split() for r in all_of(stage, "COPY") if r.startswith("--from=") == from_stage]
    return [(words[from_stage:-1], words[-1]) for words in lines]


def package_of(library):
    """The Debian package that a shared library of this machine belongs to."""
    # Its path as the loader sees it may go through a link such as /lib; the folder's own name does not.
    folder, name = library.split("/")[-2:]
    listing = weirserver.run("dpkg-query", "-S", f"*/{folder}/{name}").stdout
    package, = {line.partition(":")[0] for line in listing.splitlines()}
    return package


def needed_packages(program):
    """The packages of the libraries that a program is linked with, without those that these bring along."""
    needed = set(re.findall(r"^ +NEEDED +(\S+)", weirserver.run("objdump", "-p", program).stdout, re.M))
    paths = dict(re.findall(r"^\s*(\S+) => (\S+)", weirserver.run("ldd", program).stdout, re.M))
    assert needed and needed <= set(paths)
    return {package_of(paths[name]) for name in needed}


BUILD_STAGE, IMAGE = stages()


def test_build_packages_are_those_of_the_scripts():
    script = os.path.join(weirserver.ROOT, "scripts", "install.sh")
    result = weirserver.run("bash", "-c", '. "$1"; echo "${build_packages[@]}"', "-", script,
                            env={"root": weirserver.ROOT, "out": weirserver.BUILD})
    assert installed(BUILD_STAGE) == set(result.stdout.split())


def test_runtime_packages_are_what_the_programs_need():
    needed = set().union(*(needed_packages(os.path.join(RELEASE, p)) for p in ("weir", "weirctl")))
    # The C library is in every base image; certificate authorities are no library.
    assert installed(IMAGE) == needed - {"libc6"} | {"ca-certificates", "tzdata"}


def test_what_is_copied_is_enough_to_configure(tmp_path):
    for sources, target in copied(BUILD_STAGE, from_stage=False):
        for source in sources:
            path = os.path.join(weirserver.ROOT, source)
            if os.path.isdir(path):
                shutil.copytree(path, os.path.join(tmp_path, target))
            else:
                shutil.copy(path, os.path.join(tmp_path, target))
    configure, _, build = only([s for s in BUILD_STAGE if "apt-get" not in s[1]], "RUN").partition(" && ")
    result = weirserver.run(*configure.split(), cwd=tmp_path, seconds=100)
    assert result.returncode == 0, result.stdout + result.stderr
    assert build == configure.replace("cmake", "cmake --build")


def test_the_image_takes_what_the_release_build_makes():
    (sources, target), = copied(IMAGE, from_stage=True)
    assert only(BUILD_STAGE, "WORKDIR") == SOURCE_FOLDER
    for source in sources:
        made = os.path.join(weirserver.ROOT, os.path.relpath(source, SOURCE_FOLDER))
        assert os.access(made, os.X_OK), made
    entry, = json.loads(only(IMAGE, "ENTRYPOINT"))
    assert entry in [os.path.join(target, os.path.basename(s)) for s in sources]
    assert f"ln -s {entry} /bin/ratelimit" in all_of(IMAGE, "RUN")


def test_image_and_deployment_agree():
    spec, context = manifests.container(), manifests.pod()["spec"]["securityContext"]
    assert only(IMAGE, "USER") == f"{context['runAsUser']}:{context['runAsGroup']}"
    assert int(only(IMAGE, "EXPOSE")) == spec["ports"][0]["containerPort"]
    assert json.loads(only(IMAGE, "CMD")) == ["--rules", manifests.options()["--rules"]]
    with open(os.path.join(weirserver.ROOT, "CMakeLists.txt"), encoding="utf-8") as f:
        version = re.search(r"project\(weir VERSION (\S+)", f.read()).group(1)
    assert spec["image"] == f"weir:{version}"
    with open(DOCKERFILE, encoding="utf-8") as f:
        assert f"-t weir:{version}" in f.read()


def test_without_rules_the_image_does_not_start(tmp_path):
    flag, folder = json.loads(only(IMAGE, "CMD"))
    result = weirserver.run(weirserver.binary("weir"), flag, f"{tmp_path}{folder}", "--grpc-listen", "127.0.0.1:0")
    assert result.returncode == os.EX_NOINPUT
    assert folder in result.stderr
