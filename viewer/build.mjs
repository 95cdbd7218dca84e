/* Bundles src/ into dist/viewer.html: one page with script and style inside, the same bytes for the same sources. */
import { build } from 'esbuild';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, 'dist');
const MARK = '<!--rattleback:data-->';

const common = { bundle: true, minify: true, write: false, charset: 'utf8', legalComments: 'none', absWorkingDir: here };
const script = await build({ ...common, entryPoints: ['src/main.ts'], format: 'iife', target: 'es2022' });
const style = await build({ ...common, entryPoints: ['src/style.css'] });

const text = (result) => result.outputFiles[0].text.trim();
const page = readFileSync(join(here, 'src/page.html'), 'utf8')
  .replace('/*style*/', () => text(style))
  .replace('/*script*/', () => text(script))
  .replace('<!--licences-->', () => `<!--\n${licences()}-->`);
if (page.split(MARK).length !== 2) throw new Error(`${MARK} must stand in the page once`);
mkdirSync(out, { recursive: true });
writeFileSync(join(out, 'viewer.html'), page);

/* The libraries inside ask that their licences go along. */
function licences() {
  return ['three', 'uplot', 'fflate'].map((name) => {
    const folder = join(here, 'node_modules', name);
    const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const licence = readFileSync(join(folder, 'LICENSE'), 'utf8').replaceAll('-->', '').trim();
    return `${name} ${version}\n\n${licence}\n`;
  }).join('\n');
}
