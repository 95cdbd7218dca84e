/* Pages of docs/ as HTML: links go to pages of the site, or to files that are copied along; equations are set by KaTeX. */
import katex from 'katex';
import MarkdownIt from 'markdown-it';
import { existsSync, statSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { texOf } from './math.mjs';

/* As the links in the pages have it. */
export const slug = (text) => text.toLowerCase().replace(/[`*]/g, '').replace(/[^\p{L}\p{N} _-]/gu, '').trim().replace(/ /g, '-');

export const escapeHtml = (text) => text.replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]);

export class Pages {
  constructor(root, pages) {
    this.root = root;
    this.pages = pages; /* path of a .md file -> path in the site */
    this.files = new Map(); /* files that links lead to -> path in the site */
    this.equations = { set: 0, kept: 0 };
  }

  render(path, text) {
    const md = new MarkdownIt({ html: false, linkify: false });
    const used = new Map();
    let title = '';
    md.renderer.rules.heading_open = (tokens, i) => {
      const inline = tokens[i + 1].content, name = slug(inline), n = used.get(name) ?? 0;
      used.set(name, n + 1);
      if (!title) title = inline.replace(/`/g, '');
      return `<${tokens[i].tag} id="${n ? `${name}-${n}` : name}">`;
    };
    md.renderer.rules.code_block = (tokens, i) => this.equation(tokens[i].content, path.includes('/theory/'));
    md.renderer.rules.fence = (tokens, i) => `<pre><code>${escapeHtml(tokens[i].content)}</code></pre>\n`;
    md.renderer.rules.table_open = () => '<div class="table"><table>\n';
    md.renderer.rules.table_close = () => '</table></div>\n';
    const body = md.parse(text, {});
    for (const token of body) for (const child of token.children ?? []) this.relink(path, child);
    const html = md.renderer.render(body, md.options, {}); /* finds the title too */
    return { title, body: html };
  }

  relink(path, token) {
    const at = token.type === 'link_open' ? 'href' : token.type === 'image' ? 'src' : null;
    if (!at) return;
    const target = token.attrGet(at);
    if (/^[a-z]+:/.test(target) || target.startsWith('#')) return;
    const [file, fragment] = target.split('#');
    const from = this.pages.get(path), full = normalize(join(dirname(path), decodeURIComponent(file)));
    const to = this.pages.get(full) ?? this.carry(full);
    token.attrSet(at, relative(dirname(from), to) + (fragment ? '#' + fragment : ''));
  }

  /* A file of the repository, or a folder, that a page points to. */
  carry(full) {
    const there = join(this.root, full);
    if (!existsSync(there)) throw new Error(`${full} does not exist`);
    const to = statSync(there).isDirectory() ? join('files', full, 'index.html') : join('files', full);
    this.files.set(full.replace(/\/$/, ''), to);
    return to;
  }

  /* Formulas of the theory without a number are set too. */
  equation(text, theory) {
    const found = texOf(text.replace(/\n$/, '').split('\n'), theory);
    if (found) {
      try {
        const html = katex.renderToString(found.tex, { displayMode: true, throwOnError: true, strict: 'ignore' });
        this.equations.set++;
        if (!found.tag) return `<div class="equation" title="${escapeHtml(text.trim())}">${html}</div>\n`;
        const id = 'eq-' + found.tag.split(',')[0].trim();
        return `<div class="equation" id="${id}" title="${escapeHtml(text.trim())}">${html}<a class="tag" href="#${id}">(${escapeHtml(found.tag)})</a></div>\n`;
      } catch { /* it stays as it was written */ }
    }
    if (/\([A-Z]+\.\d+[a-z]?\)\s*$/m.test(text)) this.equations.kept++;
    return `<pre class="formula"><code>${escapeHtml(text)}</code></pre>\n`;
  }
}
