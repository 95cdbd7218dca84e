"""Points over logarithmic axes, as plain SVG."""
import math

COLOURS = ("#1f6feb", "#d1661f", "#2da44e", "#8250df", "#6e7781", "#bf3989", "#9a6700")
INK, GRID = "#24292f", "#d0d7de"
LEFT, TOP, WIDTH, HEIGHT = 74, 40, 560, 300


class Axis:
    """A logarithmic axis over whole decades, in pixels."""

    def __init__(self, values, start, end):
        self.low = math.floor(math.log10(min(values)))
        self.high = max(math.ceil(math.log10(max(values))), self.low + 1)
        self.start, self.end = start, end

    def at(self, value):
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def decades(self):
        return [10.0 ** k for k in range(self.low, self.high + 1)]


def grid(x, y):
    bottom = TOP + HEIGHT
    for value in x.decades():
        at = x.at(value)
        yield (f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{TOP}" y2="{bottom}" stroke="{GRID}"/>'
               f'<text x="{at:.1f}" y="{bottom + 18}" text-anchor="middle">{value:g}</text>')
    for value in y.decades():
        at = y.at(value)
        yield (f'<line x1="{LEFT}" x2="{LEFT + WIDTH}" y1="{at:.1f}" y2="{at:.1f}" stroke="{GRID}"/>'
               f'<text x="{LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{value:g}</text>')


def mark(x, y, colour, point):
    """A point (x, y, full, title): full or hollow."""
    fill = colour if point[2] else "white"
    return (f'<circle cx="{x.at(point[0]):.1f}" cy="{y.at(point[1]):.1f}" r="4" fill="{fill}" '
            f'stroke="{colour}" stroke-width="1.5"><title>{point[3]}</title></circle>')


def scatter(title, xlabel, series):
    return draw(title, xlabel, series, joined=False)


def draw(title, xlabel, series, joined=True):
    """SVG text of [(name, [(x, y, full, title)..])..]; `joined` draws a line through each series."""
    points = [p for _, values in series for p in values]
    x = Axis([p[0] for p in points], LEFT, LEFT + WIDTH)
    y = Axis([p[1] for p in points], TOP + HEIGHT, TOP)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 150} '
           f'{TOP + HEIGHT + 50}" font-family="sans-serif" font-size="12" fill="{INK}">',
           '<rect width="100%" height="100%" fill="white"/>',
           f'<text x="{LEFT}" y="24" font-weight="bold">{title}</text>',
           f'<text x="{LEFT + WIDTH / 2:.0f}" y="{TOP + HEIGHT + 40}" text-anchor="middle">{xlabel}</text>']
    out += grid(x, y)
    for k, (name, values) in enumerate(series):
        colour = COLOURS[k % len(COLOURS)]
        if joined:
            path = " ".join(f"{x.at(p[0]):.1f},{y.at(p[1]):.1f}" for p in values)
            out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-opacity="0.5"/>')
        out += [mark(x, y, colour, p) for p in values]
        out.append(f'<circle cx="{LEFT + WIDTH + 20}" cy="{TOP + 16 + 20 * k}" r="4" fill="{colour}"/>'
                   f'<text x="{LEFT + WIDTH + 30}" y="{TOP + 20 + 20 * k}">{name}</text>')
    return "\n".join(out + ["</svg>"]) + "\n"
