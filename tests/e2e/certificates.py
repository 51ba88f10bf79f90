# SPDX-License-Identifier: Apache-2.0
"""Certificates for one test, made by the openssl command in the test's folder."""
import os
import subprocess

USAGES = {True: "critical,CA:TRUE", False: "critical,CA:FALSE"}


class Pair:
    """A certificate and its key: paths of PEM files."""

    def __init__(self, folder, name):
        self.cert, self.key = (os.path.join(str(folder), f"{name}.{kind}") for kind in ("pem", "key"))


class Authority(Pair):
    """A CA of a test's own."""

    def __init__(self, folder, name="ca"):
        super().__init__(folder, name)
        self.folder = folder
        make(self, name, is_authority=True)

    def issue(self, name, *alternatives):
        """A pair for `name`, and for what `alternatives` say, as "DNS:a.example" or "IP:127.0.0.1"."""
        pair = Pair(self.folder, name)
        make(pair, name, alternatives, issuer=self)
        return pair


def make(pair, name, alternatives=(), issuer=None, is_authority=False):
    words = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1",
             "-subj", f"/CN={name}", "-keyout", pair.key, "-out", pair.cert,
             "-addext", f"basicConstraints={USAGES[is_authority]}"]
    if alternatives:
        words += ["-addext", "subjectAltName=" + ",".join(alternatives)]
    if issuer:
        words += ["-CA", issuer.cert, "-CAkey", issuer.key]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
