"""Draws how long it takes to seal a payload of 256 bytes, in each language, by us and by others.

Usage: python benches/picture.py SUMMARY SVG
"""

import json
import pathlib
import sys
from statistics import median

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

SIZE = 256
LANGUAGES = {"rust": "Rust", "node": "Node", "python": "Python", "go": "Go"}
#: What each peer is called by those who use it. Whoever is missing is not drawn: floors, and variants of a peer.
PEERS = {
    "rmcp": "rmcp's codec (signs only)",
    "pasetors": "PASETO v4.local (pasetors)",
    "fernet": "Fernet",
    "branca": "Branca",
    "official-sequential": "MCP SDK's codec (signs only)",
    "jose": "JWE, A256GCM (jose)",
    "iron-session": "iron-session",
    "node:crypto": "AES-256-GCM by hand (node:crypto)",
    "boundary": "MCP SDK's codec",
    "pyjwt": "JWT, signed (PyJWT)",
    "itsdangerous": "itsdangerous (signs only)",
    "securecookie": "gorilla/securecookie",
    "golang-jwt": "JWT, signed (golang-jwt)",
}
OURS, THEIRS, TEXT = "#0969da", "#b6bec8", "#1f2328"


def draw(rows, file):
    """Draw one panel a language, with a bar for each codec, the fastest first."""
    measured = {row["language"] for row in rows}
    panels = {name: bars(rows, language) for language, name in LANGUAGES.items() if language in measured}
    heights = [len(found) for found in panels.values()]
    style = {"svg.hashsalt": "sealwax", "font.size": 10, "text.color": TEXT}
    with plt.rc_context(style):
        figure, axes = plt.subplots(
            len(panels), 1, figsize=(8.6, 0.34 * sum(heights) + 1.9), height_ratios=heights, squeeze=False
        )
        for axis, (name, found) in zip(axes[:, 0], panels.items(), strict=True):
            panel(axis, name, found)
        figure.suptitle(f"Time to seal {SIZE} bytes: shorter is better", x=0.02, ha="left", weight="bold", size=13)
        figure.text(0.02, 0.012, "Medians of one run. Each language has a scale of its own.", size=8, color="#57606a")
        figure.tight_layout(rect=(0, 0.02, 1, 0.99), h_pad=1.4)
        figure.savefig(file, metadata={"Date": None})
        plt.close(figure)


def bars(rows, language):
    """Return (name, microseconds, whether it is ours) of each codec of a language.

    Each peer ran by turns with us, so its time is our median in those turns, times the ratio: what else the machine
    did at that moment slowed down both.
    """
    found = [r for r in rows if (r["language"], r["op"], r["size"]) == (language, "seal", SIZE) and r["peer"] in PEERS]
    ours = median(row["ours_ns"] for row in found) / 1000
    times = [(PEERS[row["peer"]], ours * row["ratio"], False) for row in found]
    return sorted([("Sealwax", ours, True), *times], key=lambda bar: bar[1])


def panel(axis, name, found):
    names, times, is_ours = zip(*found, strict=True)
    places = range(len(found))
    axis.barh(places, times, height=0.72, color=[OURS if mine else THEIRS for mine in is_ours])
    for place, time, mine in zip(places, times, is_ours, strict=True):
        text = f"{time:.1f} µs" if time < 10 else f"{time:.0f} µs"
        axis.text(time, place, f"  {text}", va="center", weight="bold" if mine else "normal")
    axis.set_yticks(places, names)
    for label, mine in zip(axis.get_yticklabels(), is_ours, strict=True):
        label.set(weight="bold" if mine else "normal", color=OURS if mine else TEXT)
    axis.set_title(name, loc="left", weight="bold", size=11)
    axis.invert_yaxis()
    axis.set_xlim(0, max(times) * 1.15)
    axis.tick_params(length=0, labelbottom=False)
    axis.spines[:].set_visible(False)


if __name__ == "__main__":
    draw(json.loads(pathlib.Path(sys.argv[1]).read_text())["tokens"], sys.argv[2])
