#!/usr/bin/env python3
"""Differentiated Services as in Figure 20 of "The Click modular router" (TOCS 2000), in simulated time.

Runs examples/diffserv.click with more and more packets a second, a third of them in each class, and prints what the
output link carries of each class; with a second argument it draws that as an SVG file as well.

    bench/diffserv.py target/release/clickwork bench/diffserv.svg
"""

import os
import re
import subprocess
import sys

EXAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "examples", "diffserv.click")
TOTALS = range(15_000, 465_000, 15_000)
CLASSES = (("high", "#b2182b"), ("medium", "#2166ac"), ("low", "#5aae61"))

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 720, 420, 80, 30, 110, 60
MOST_IN, MOST_OUT = 450_000, 150_000


def measure(clickwork, total):
    """What comes out of each class, in packets a second."""
    command = [clickwork, "run", "--simtime", EXAMPLE, f"TOTAL={total}", "EACH=1"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return tuple(int(re.search(rf"{name} (\d+)", printed).group(1)) for name, _ in CLASSES)


def x(total):
    return LEFT + (WIDTH - LEFT - RIGHT) * total / MOST_IN


def y(rate):
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * rate / MOST_OUT


def text(at_x, at_y, words, anchor="middle", more=""):
    return f'<text x="{at_x:.1f}" y="{at_y:.1f}" text-anchor="{anchor}"{more}>{words}</text>'


def draw(results):
    """The results as an SVG picture."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="13">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
    ]
    for rate in range(0, MOST_OUT + 1, 30_000):
        parts.append(f'<path d="M{LEFT} {y(rate):.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        parts.append(text(LEFT - 8, y(rate) + 4, f"{rate // 1000}k", "end"))
    for total in range(0, MOST_IN + 1, 90_000):
        parts.append(text(x(total), HEIGHT - BOTTOM + 20, f"{total // 1000}k"))
    parts.append(f'<path d="M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}" fill="none" stroke="black"/>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(text(middle, HEIGHT - 15, "input, packets a second in all three classes"))
    parts.append(text(20, HEIGHT / 2, "output, packets a second", more=f' transform="rotate(-90 20 {HEIGHT / 2})"'))
    for column, (name, colour) in enumerate(CLASSES):
        points = [(x(total), y(rates[column])) for total, rates in results]
        path = "M" + "L".join(f"{px:.1f} {py:.1f}" for px, py in points)
        parts.append(f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{px:.1f}" cy="{py:.1f}" r="3" fill="{colour}"/>' for px, py in points]
        parts.append(text(WIDTH - RIGHT + 10, points[-1][1] + 4, name, "start", f' fill="{colour}"'))
    return "\n".join(parts + ["</svg>"]) + "\n"


def main():
    clickwork = sys.argv[1] if len(sys.argv) > 1 else "clickwork"
    results = []
    print("   input    high  medium     low")
    for total in TOTALS:
        rates = measure(clickwork, total)
        results.append((total, rates))
        print(f"{total:8} {rates[0]:7} {rates[1]:7} {rates[2]:7}")
    if len(sys.argv) > 2:
        with open(sys.argv[2], "w", encoding="utf-8") as file:
            file.write(draw(results))


if __name__ == "__main__":
    main()
