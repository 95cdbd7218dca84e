/* What a screenshot shows: colours at places, read in the browser that took it. */

/* Colours (r g b) of a picture (PNG) at these places, mean of 3 x 3. */
export async function colorsAt(page, png, places) {
  return await page.evaluate(async ([data, at]) => {
    const bytes = Uint8Array.from(atob(data), (c) => c.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
    const canvas = new OffscreenCanvas(image.width, image.height), context = canvas.getContext('2d', { willReadFrequently: true });
    context.drawImage(image, 0, 0);
    return at.map(([x, y]) => {
      const d = context.getImageData(Math.round(x) - 1, Math.round(y) - 1, 3, 3).data, sum = [0, 0, 0];
      for (let i = 0; i < 9; i++) for (let k = 0; k < 3; k++) sum[k] += d[4 * i + k] / 9;
      return sum;
    });
  }, [png.toString('base64'), places]);
}

export function hueOf([r, g, b]) {
  const most = Math.max(r, g, b), least = Math.min(r, g, b), span = most - least;
  if (span === 0) return { hue: 0, saturation: 0 };
  const hue = most === r ? ((g - b) / span) % 6 : most === g ? (b - r) / span + 2 : (r - g) / span + 4;
  return { hue: (60 * hue + 360) % 360, saturation: span / most };
}

export const rgbOf = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
export const hueDistance = (a, b) => Math.min(Math.abs(a - b), 360 - Math.abs(a - b));

/* Like or unlike: hues close where there is one, both grey where there is none. */
export function alike(seen, wanted) {
  const a = hueOf(seen), b = hueOf(wanted);
  if (b.saturation < 0.2) return a.saturation < 0.3;
  return a.saturation > 0.15 && hueDistance(a.hue, b.hue) < 22;
}

/* Where a point of the world is in the picture: the pinhole written out, with nothing of the viewer's own. */
export function pinhole({ eye, target, fov, width, height }, point) {
  const sub = (a, b) => a.map((v, i) => v - b[i]), dot = (a, b) => a.reduce((s, v, i) => s + v * b[i], 0);
  const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const unit = (a) => a.map((v) => v / Math.hypot(...a));
  const forward = unit(sub(target, eye)), right = unit(cross(forward, [0, 0, 1])), up = cross(right, forward), d = sub(point, eye);
  const depth = dot(d, forward), scale = height / 2 / Math.tan(fov * Math.PI / 360);
  return [width / 2 + scale * dot(d, right) / depth, height / 2 - scale * dot(d, up) / depth];
}
