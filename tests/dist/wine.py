"""Lets Debian's Wine run from the folder that it was unpacked into, beside another Debian: `wine.py FOLDER PATCHELF`.

It is looked for in /usr otherwise, and linked with the C library of the system.
"""

import pathlib
import shutil
import subprocess
import sys

root = pathlib.Path(sys.argv[1]).absolute()
programs, libraries = root / "usr/lib/wine", root / "usr/lib/x86_64-linux-gnu"
# Not a script that looks for the server in /usr.
(programs / "wineserver64").replace(programs / "wineserver")
for name in ("wine64", "wineserver"):
    subprocess.run([sys.argv[2], "--set-interpreter", libraries / "ld-linux-x86-64.so.2", programs / name], check=True)
    # Also for what it loads: a runpath would not do.
    subprocess.run([sys.argv[2], "--force-rpath", "--set-rpath", libraries, programs / name], check=True)
# The server takes this path from its own.
(root / "usr/share/wine/wine").symlink_to(".")
# Debian's Wine looks for it in /usr/x86_64-w64-mingw32; a program looks in its own system.
system = root / "windows/drive_c/windows/system32"
system.mkdir(parents=True)
shutil.copy(root / "usr/x86_64-w64-mingw32/lib/zlib1.dll", system)
