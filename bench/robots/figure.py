"""The figure of `bench/robots/run --svg`: ratio of times and overlap over all robots, as plain SVG."""
import math

OURS, THEIRS, INK, GRID = "#1f6feb", "#d1661f", "#24292f", "#d0d7de"
LEFT, WIDTH, HEIGHT, GAP = 70, 800, 190, 60


def place(value, low, high):
    """Of a value on a logarithmic axis, from 0 to 1."""
    return (math.log10(min(max(value, low), high)) - math.log10(low)) / math.log10(high / low)


def panel(top, title, low, high, series, lines):
    out = [f'<text x="{LEFT}" y="{top - 10}" font-weight="bold">{title}</text>']
    for power in range(round(math.log10(low)), round(math.log10(high)) + 1):
        y = top + HEIGHT * (1.0 - place(10.0 ** power, low, high))
        text = f"{10.0 ** power:g}"
        out.append(f'<line x1="{LEFT}" x2="{LEFT + WIDTH}" y1="{y:.1f}" y2="{y:.1f}" stroke="{GRID}"/>'
                   f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{text}</text>')
    for value, word in lines:
        y = top + HEIGHT * (1.0 - place(value, low, high))
        out.append(f'<line x1="{LEFT}" x2="{LEFT + WIDTH}" y1="{y:.1f}" y2="{y:.1f}" stroke="{INK}" '
                   f'stroke-dasharray="5 4"/><text x="{LEFT + WIDTH - 4}" y="{y - 4:.1f}" '
                   f'text-anchor="end">{word}</text>')
    for colour, values in series:
        for k, (value, name) in enumerate(values):
            if value is None:
                continue
            x = LEFT + WIDTH * (k + 0.5) / len(values)
            y = top + HEIGHT * (1.0 - place(max(value, low), low, high))
            out.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.2" fill="{colour}">'
                       f'<title>{name}: {value:.3g}</title></circle>')
    return out


def key(x, y, colour, word):
    return (f'<circle cx="{x}" cy="{y - 4}" r="4" fill="{colour}"/>'
            f'<text x="{x + 9}" y="{y}">{word}</text>')


def bounds(values, low, high):
    worst = max([v for v in values if v] + [high])
    return low, 10.0 ** math.ceil(math.log10(worst))


def text(rows):
    """SVG of robots in the order of their ratio; values below an axis are drawn on it."""
    rows = sorted(rows, key=lambda r: r["ratio"])
    names = [r["model"] for r in rows]
    ratio = [(r["ratio"], n) for r, n in zip(rows, names)]
    ours = [(r.get("overlap_mm"), n) for r, n in zip(rows, names)]
    theirs = [(r.get("overlap_mujoco_mm"), n) for r, n in zip(rows, names)]
    second = 40 + HEIGHT + GAP
    low, high = bounds([v for v, _ in ratio], 0.01, 10.0)
    deep = bounds([v for v, _ in ours + theirs], 1e-6, 10.0)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 20} '
           f'{second + HEIGHT + 45}" font-family="sans-serif" font-size="12" fill="{INK}">',
           '<rect width="100%" height="100%" fill="white"/>']
    out += panel(40, "time of a step over MuJoCo's", low, high, [(OURS, ratio)], [(1.0, "as fast")])
    out += panel(second, "overlap beyond the start [mm]", *deep, [(THEIRS, theirs), (OURS, ours)], [])
    base = second + HEIGHT + 30
    out += [f'<text x="{LEFT}" y="{base}">{len(rows)} robots, in the order of their ratio</text>',
            key(LEFT + 460, base, OURS, "rattleback"), key(LEFT + 580, base, THEIRS, "MuJoCo"), "</svg>"]
    return "\n".join(out) + "\n"


def write(path, rows):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text(rows))
