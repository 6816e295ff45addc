"""What a process pays before its first token: the processor time of a start, the import and one token sealed.

Usage: python3 benches/starts.py NODE_MODULES_DIR PYTHON [quick]

Many short processes by turns, each beside an empty one: a JSON object for each language, with the milliseconds of an
empty process, and for each package those that it adds. Medians of turns.
"""

import json
import os
import subprocess
import sys
from statistics import median

SCRIPTS = {
    "node": {
        "empty": "",
        "sealwax": """
            import { Codec, Key, KeyRing } from 'sealwax';
            const codec = new Codec({ keys: new KeyRing([Key.generate()]), audience: 'https://mcp.example.com' });
            codec.view({ subject: 'alice' }).cursor('tools/list').seal(new Uint8Array(64));
        """,
        "jose": """
            import { EncryptJWT } from 'jose';
            const key = crypto.getRandomValues(new Uint8Array(32));
            const token = new EncryptJWT({ payload: 'x'.repeat(64) }).setProtectedHeader({ alg: 'dir', enc: 'A256GCM' });
            await token.setSubject('alice').setExpirationTime('10m').encrypt(key);
        """,
        "iron-session": """
            import { sealData } from 'iron-session';
            await sealData({ payload: 'x'.repeat(64) }, { password: 'x'.repeat(43), ttl: 600 });
        """,
    },
    "python": {
        "empty": "",
        "sealwax": """
import sealwax
codec = sealwax.Codec(keys=sealwax.KeyRing([sealwax.Key.generate()]), audience="https://mcp.example.com")
codec.view(subject="alice").cursor("tools/list").seal(bytes(64))
""",
        "fernet": """
from cryptography.fernet import Fernet
Fernet(Fernet.generate_key()).encrypt(bytes(64))
""",
    },
}


def worked(command, folder):
    """Returns the milliseconds of processor time of a process and its threads, to its end."""
    process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"failed: {command}")
    return (usage.ru_utime + usage.ru_stime) * 1e3


def main(folder, python, *quick):
    turns = 5 if quick else 41
    starters = {"node": ["node", "--input-type=module", "-e"], "python": [python, "-c"]}
    for language, scripts in SCRIPTS.items():
        commands = {name: [*starters[language], script] for name, script in scripts.items()}
        for command in commands.values():
            # What the system and Python keep of a first start.
            worked(command, folder)
        times = {name: [] for name in commands}
        for turn in range(turns):
            # Every other turn goes the other way.
            for name, command in [*commands.items()][:: 1 if turn % 2 == 0 else -1]:
                times[name].append(worked(command, folder))
        empty = times.pop("empty")
        added = {name: median(map(float.__sub__, found, empty)) for name, found in times.items()}
        print(json.dumps({"language": language, "starts": {"empty": median(empty), **added}}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
