/* The site: playground, gallery, manual, theory and design, reference of the headers, results. Static files that work from a
 * folder as well as from a server. `make site` calls it; doxygen is needed for the reference.
 * usage: node site.mjs OUT */
import { build } from 'esbuild';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { galleryOf, galleryPage } from './site/gallery.mjs';
import { checkLinks } from './site/links.mjs';
import { escapeHtml, Pages } from './site/markdown.mjs';
import { charts } from './site/results.mjs';

const here = dirname(fileURLToPath(import.meta.url)), root = resolve(here, '..');
const out = resolve(process.argv[2] ?? join(root, 'build/site'));

const PARTS = [['manual', 'Manual'], ['theory', 'Theory'], ['design', 'Design']];
const TOP = [['index.html', 'Gallery'], ['play.html', 'Playground'], ['manual/getting-started.html', 'Manual'], ['theory/complementarity.html', 'Theory'],
  ['design/overview.html', 'Design'], ['api/index.html', 'Reference'], ['results.html', 'Results']];

const put = (path, text) => { mkdirSync(dirname(join(out, path)), { recursive: true }); writeFileSync(join(out, path), text); };
const rel = (from, to) => relative(dirname(from), to) || basename(to);

function frame(path, title, body, { head = '', current = '' } = {}) {
  const top = TOP.map(([to, name]) => `<a href="${rel(path, to)}"${name === current ? ' aria-current="page"' : ''}>${name}</a>`).join('\n');
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} - rattleback</title><link rel="icon" href="data:,">
<link rel="stylesheet" href="${rel(path, 'assets/site.css')}">${head}</head>
<body><nav class="top" aria-label="Site"><a class="brand" href="${rel(path, 'index.html')}">rattleback</a>
${top}</nav>
${body}</body></html>
`;
}

function docPages() {
  const map = new Map();
  for (const [part] of PARTS) for (const name of readdirSync(join(root, 'docs', part)).sort()) if (name.endsWith('.md')) map.set(`docs/${part}/${name}`, `${part}/${name.replace(/\.md$/, '.html')}`);
  for (const name of ['README.md', 'CONTRIBUTING.md', 'scenes/README.md', 'viewer/README.md', 'bench/README.md']) map.set(name, name.toLowerCase().replace(/\.md$/, '.html').replaceAll('/', '-'));
  return map;
}

function documents() {
  const map = docPages(), pages = new Pages(root, map), made = [];
  for (const [path, to] of map) made.push({ path, to, ...pages.render(path, readFileSync(join(root, path), 'utf8')) });
  for (const page of made) put(page.to, frame(page.to, page.title, `<div class="doc">${sidebar(page, made)}<main>${page.body}</main></div>`, head(page)));
  carryFiles(pages);
  return { made, pages };
}

function head(page) {
  const part = PARTS.find(([p]) => page.to.startsWith(p + '/'));
  return { current: part?.[1], head: page.body.includes('class="katex') ? `<link rel="stylesheet" href="${rel(page.to, 'assets/katex.min.css')}">` : '' };
}

function sidebar(page, made) {
  const lists = PARTS.map(([part, name]) => {
    const items = made.filter((p) => p.to.startsWith(part + '/')).map((p) => `<li><a href="${rel(page.to, p.to)}"${p === page ? ' aria-current="page"' : ''}>${escapeHtml(p.title.replace(/: rattleback.*$/, ''))}</a></li>`);
    return `<h2>${name}</h2><ul>${items.join('')}</ul>`;
  });
  return `<nav class="side" aria-label="Pages">${lists.join('')}</nav>`;
}

/* What pages point to: files as they are, folders as a list. */
function carryFiles(pages) {
  for (const [path, to] of pages.files) {
    const from = join(root, path);
    if (!statSync(from).isDirectory()) {
      mkdirSync(dirname(join(out, to)), { recursive: true });
      cpSync(from, join(out, to));
      continue;
    }
    const names = readdirSync(from).sort().map((n) => `<li>${escapeHtml(n)}</li>`).join('');
    put(to, frame(to, path, `<div class="wide"><main><h1>${escapeHtml(path)}</h1><ul>${names}</ul></main></div>`));
  }
}

function galleryIndex(gallery) {
  const groups = new Map();
  for (const s of gallery.scenes) groups.set(s.group, [...(groups.get(s.group) ?? []), s]);
  const cards = [...groups].map(([name, scenes]) => `<h2>${escapeHtml(name)}</h2><ul>${scenes.map(card).join('')}</ul>`).join('');
  const hero = `<div class="hero"><h1>Rigid bodies in hard contact, every step certified</h1>
<p>No penetration, true Coulomb friction, no stiffness to tune. The scenes below run in your browser, in the engine of the command compiled to
WebAssembly, to the same bits. Pull bodies, change friction, compare formulations.</p>
<p><a class="button" href="play.html">Open the playground</a><a class="button second" href="manual/getting-started.html">Getting started</a></p></div>`;
  put('index.html', frame('index.html', 'Gallery', `${hero}<main class="cards">${cards}</main>`, { current: 'Gallery' }));
}

function card(scene) {
  const picture = join(here, 'site/pictures', `${scene.id}.jpg`);
  const image = existsSync(picture) ? `<img src="pictures/${scene.id}.jpg" alt="" loading="lazy" width="480" height="300">` : '';
  const compare = scene.compare ? `&compare=${scene.compare}` : '';
  return `<li><a class="card" href="play.html#scene=${scene.id}${compare.replace('&', '&amp;')}">${image}<b>${escapeHtml(scene.title)}</b><span>${escapeHtml(scene.text)}</span></a></li>`;
}

async function resultsPage() {
  const list = charts(root);
  const script = await build({ entryPoints: [join(here, 'site/results.ts')], bundle: true, minify: true, write: false, format: 'iife', target: 'es2022', legalComments: 'none' });
  put('assets/results.js', script.outputFiles[0].text);
  const parts = list.map((c) => `<h2>${escapeHtml(c.title)}</h2><p>${escapeHtml(c.text)}</p><div class="chart" id="${c.id}"></div>`).join('');
  const data = JSON.stringify(list).replaceAll('<', '\\u003c');
  put('results.html', frame('results.html', 'Results', `<main class="wide"><h1>Results</h1><p>Point at a mark for its name; drag to look closer, double click to go back. Tables, commands and
what they do not show: <a href="design/results.html">results</a>, <a href="design/performance.html">performance</a>.</p>${parts}</main>
<script type="application/json" id="data">${data}</script><script src="assets/results.js"></script>`, { current: 'Results' }));
}

async function assets() {
  const css = await build({ entryPoints: [join(here, 'site/site.css')], bundle: true, minify: true, write: false, legalComments: 'none' });
  put('assets/site.css', css.outputFiles[0].text);
  const katex = join(here, 'node_modules/katex/dist');
  mkdirSync(join(out, 'assets/fonts'), { recursive: true });
  const style = readFileSync(join(katex, 'katex.min.css'), 'utf8').replace(/,url\([^)]*\.(woff|ttf)\) format\("(woff|truetype)"\)/g, '');
  put('assets/katex.min.css', style);
  for (const name of readdirSync(join(katex, 'fonts'))) if (name.endsWith('.woff2')) cpSync(join(katex, 'fonts', name), join(out, 'assets/fonts', name));
  if (existsSync(join(here, 'site/pictures'))) cpSync(join(here, 'site/pictures'), join(out, 'pictures'), { recursive: true });
}

/* The reference of the public headers, by Doxygen; a page that says so where it is not installed. */
function reference() {
  const settings = `PROJECT_NAME=rattleback\nINPUT=${join(root, 'include')}\nRECURSIVE=YES\nFILE_PATTERNS=*.h\nOUTPUT_DIRECTORY=${out}\nHTML_OUTPUT=api\nGENERATE_LATEX=NO
OPTIMIZE_OUTPUT_FOR_C=YES\nEXTRACT_ALL=YES\nJAVADOC_AUTOBRIEF=YES\nQUIET=YES\nWARNINGS=NO\nWARN_IF_DOC_ERROR=NO\nSTRIP_FROM_PATH=${root}\nHTML_TIMESTAMP=NO\nHTML_COLORSTYLE=AUTO_LIGHT\nGENERATE_TREEVIEW=NO\nDISABLE_INDEX=NO
SEARCHENGINE=NO\nINPUT_FILTER="sed -e 's#^\\([[:space:]]*\\)/\\* #\\1/** #;s#;\\([[:space:]]*\\)/\\* #;\\1/**< #'"\nMACRO_EXPANSION=YES\nHAVE_DOT=NO\nSOURCE_BROWSER=YES\nVERBATIM_HEADERS=YES\n`;
  const done = spawnSync('doxygen', ['-'], { input: settings, encoding: 'utf8' });
  if (done.error) {
    put('api/index.html', frame('api/index.html', 'Reference', '<main class="wide"><h1>Reference</h1><p>This site was built without Doxygen; the headers are in include/rattleback.</p></main>', { current: 'Reference' }));
    return 'without doxygen, which is not installed';
  }
  if (done.status !== 0) throw new Error(`doxygen: ${done.stderr.slice(0, 400)}`);
  return 'by doxygen';
}

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
await assets();
const gallery = galleryOf(root);
galleryIndex(gallery);
put('play.html', galleryPage(root, gallery));
const { made, pages } = documents();
await resultsPage();
const how = reference();
const links = checkLinks(out);
for (const f of links.findings.slice(0, 40)) console.error(f);
console.log(`${relative(process.cwd(), out) || '.'}: ${gallery.scenes.length} scenes, ${made.length} pages, ${pages.equations.set} equations set (${pages.equations.kept} left as text), reference ${how}`);
console.log(`${links.count} links in ${links.pages} pages, ${links.findings.length} of them dead`);
process.exit(links.findings.length ? 1 : 0);
