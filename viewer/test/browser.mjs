/* Chromium for the tests: Debian's, without a window, drawing in software: WebGL by SwiftShader, the page around it as Chromium does
 * where there is no graphics processor. Exit status 77: it is not there, the test is left out. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

export const viewer = resolve(dirname(fileURLToPath(import.meta.url)), '..');
export const root = resolve(viewer, '..');
export const command = resolve(process.env.RATTLEBACK_COMMAND ?? join(root, 'build/release/bin/rattleback'));
export const work = resolve(process.env.RATTLEBACK_WORK ?? join(root, 'build/viewer-test'));
mkdirSync(work, { recursive: true });

export function skip(reason) {
  console.log(`skipped: ${reason}`);
  process.exit(77);
}

export function chromiumPath() {
  const asked = process.env.RATTLEBACK_CHROMIUM;
  return [asked, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((p) => p && existsSync(p));
}

export async function launch(extra = []) {
  const executablePath = chromiumPath();
  if (!executablePath) skip('there is no Chromium (Debian: apt-get install chromium)');
  let playwright;
  try { playwright = await import('playwright-core'); } catch { skip('viewer/node_modules is not there (npm ci in viewer/)'); }
  return await playwright.chromium.launch({
    executablePath, args: ['--no-sandbox', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update',
      '--disable-sync', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--disable-gpu-compositing', ...extra],
  });
}

/* A page that keeps what it complained about and what it asked of a network. */
export async function openPage(browser, url, { width = 900, height = 600, ready = true } = {}) {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme: 'dark' });
  const complaints = [], requests = [];
  page.on('console', (m) => { if (m.type() === 'error' || m.type() === 'warning' && !/GPU stall|GL Driver Message|ReadPixels/.test(m.text())) complaints.push(`${m.type()}: ${m.text()}`); });
  page.on('pageerror', (e) => complaints.push(`thrown: ${e.message}`));
  page.on('request', (r) => { if (!/^(data|blob):/.test(r.url())) requests.push(r.url()); });
  await page.goto(url);
  if (ready) await waitReady(page);
  return { page, complaints, requests };
}

export const waitReady = (page, timeout = 60000) => page.waitForFunction(() => document.documentElement.dataset.rb, null, { timeout });

export const fileUrl = (path, hash = '') => pathToFileURL(path).href + hash;

const inTag = (text) => text.replaceAll('<', '\\u003c');

/* A page of the viewer with this data, as the command writes it. */
export function makePage(name, { model, gallery, replay }) {
  const page = readFileSync(join(viewer, 'dist/viewer.html'), 'utf8'), tags = [];
  if (replay) tags.push(`<script type="application/json" id="rb-replay">${inTag(replay)}</script>`);
  if (model) tags.push(`<script type="application/json" id="rb-model">${inTag(JSON.stringify(model))}</script>`);
  if (gallery) tags.push(`<script type="application/json" id="rb-gallery">${inTag(JSON.stringify(gallery))}</script>`);
  if (!replay) tags.push(`<script type="text/plain" id="rb-wasm">${readFileSync(join(viewer, 'dist/rattleback.wasm')).toString('base64')}</script>`);
  const path = join(work, name);
  writeFileSync(path, page.replace('<!--rattleback:data-->', () => tags.join('\n')));
  return path;
}

export const liveModel = (path, text, more = {}) => ({ model: path, files: [{ path, base64: Buffer.from(text).toString('base64') }], options: {}, key: null, ...more });
