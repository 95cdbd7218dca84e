/* Equations of the theory pages, written in ASCII, as TeX: what a reader of the text sees as symbols. A block that this does not
 * understand is left as it is: `texOf` answers null. */

const GREEK = new Set(['alpha', 'beta', 'gamma', 'delta', 'eps', 'epsilon', 'zeta', 'eta', 'theta', 'kappa', 'lambda', 'mu', 'nu', 'xi', 'rho',
  'sigma', 'tau', 'phi', 'psi', 'omega', 'Omega', 'Delta', 'Phi', 'Sigma', 'Gamma', 'Lambda', 'Theta', 'pi']);
const OPERATORS = new Set(['min', 'max', 'sin', 'cos', 'tan', 'exp', 'log', 'det', 'inf', 'sup', 'arg', 'dim', 'ker', 'cosh', 'sinh', 'tanh']);
const SYMBOLS = [
  ['_|_', '\\perp '], ['+=', '\\mathrel{+}= '], ['-=', '\\mathrel{-}= '], [':=', '\\mathrel{:=}'], ['<=>', '\\Leftrightarrow '], ['<=', '\\le '], ['>=', '\\ge '], ['!=', '\\ne '], ['==', '='],
  ['->', '\\to '], ['=>', '\\Rightarrow '], ['(+)', '\\oplus '], ['(x)', '\\otimes '], ['+-', '\\pm '], ['...', '\\dots '], ['..', '\\dots '], ['<<', '\\ll '], ['>>', '\\gg '], ['~', '\\sim '],
];

/* Tokens: words with their subscripts, numbers, symbols, runs of blanks. */
function tokens(line) {
  const out = [];
  let rest = line;
  while (rest) {
    let m;
    if ((m = /^ {2,}/.exec(rest))) out.push(['gap', m[0]]);
    else if ((m = /^ /.exec(rest))) out.push(['blank', ' ']);
    else if ((m = /^\d+(\.\d+)?(e[+-]?\d+)?(?![A-Za-z])/.exec(rest))) out.push(['number', m[0]]);
    else if ((m = /^(?:[^\W\d_]|\d+[A-Za-z])[A-Za-z0-9]*(?:_[A-Za-z0-9]+(?:[+-]1(?![\w(.]))?(?:,[a-z0-9]+(?![a-z0-9]*\())?)*/u.exec(rest))) out.push(['word', m[0]]);
    else {
      const symbol = SYMBOLS.find(([text]) => rest.startsWith(text));
      if (symbol) { out.push(['symbol', symbol[1], symbol[0]]); m = [symbol[0]]; } else { out.push(['char', rest[0]]); m = [rest[0]]; }
    }
    rest = rest.slice(m[0].length);
  }
  return out;
}

const escape = (text) => text.replace(/[\\{}$&#%_^~]/g, (c) => (c === '\\' ? '\\backslash ' : c === '~' ? '\\sim ' : c === '^' ? '\\hat{}' : '\\' + c));

/* A name: one letter is a symbol, two with a digit is a symbol with an index, more letters are upright. */
function name(word) {
  if (GREEK.has(word)) return word === 'eps' ? '\\epsilon ' : '\\' + word + ' ';
  if (OPERATORS.has(word)) return '\\' + word + ' ';
  let m;
  if ((m = /^([A-Za-z])(\d+)$/.exec(word))) return `${m[1]}_{${m[2]}}`;
  if ((m = /^([A-Za-z]+)(\d+)$/.exec(word)) && GREEK.has(m[1])) return `${name(m[1])}_{${m[2]}}`;
  if (/^[A-Za-z]$/.test(word)) return word;
  if (/^d[a-z]$/.test(word)) return `\\mathrm{d}${word[1]}`;
  if (/^[A-Z]{2}$/.test(word) || /^[a-z]{2}$/.test(word) || /^[A-Z][a-z]$/.test(word)) return `\\mathit{${word}}`;
  if (word === 'qdd') return '\\ddot q';
  if (word === 'sqrt') return '\\operatorname{sqrt}';
  return `\\mathrm{${word}}`;
}

function variable(word) {
  const [base, ...indices] = word.split('_');
  let m;
  if (base === 'sum') return indices.length ? `\\sum_{${indices.map(name).join(' ')}}` : '\\sum ';
  const index = indices.map((i) => i.split(',').map((p) => (/^\d+$/.test(p) ? p : /[+-]1$/.test(p) ? name(p.slice(0, -2)) + p.slice(-2) : name(p))).join(',')).join(' ');
  if (!index) return name(base);
  if ((m = /^([A-Za-z])(\d+)$/.exec(base))) return `${m[1]}_{${m[2]},${index}}`;
  return `${name(base)}_{${index}}`;
}

/* English between formulas: words of three letters and more that follow each other, or stand among small words. */
const SMALL = new Set(['the', 'of', 'in', 'is', 'and', 'or', 'for', 'from', 'to', 'with', 'on', 'at', 'by', 'that', 'as', 'all', 'every', 'each', 'over', 'a',
  'an', 'where', 'else', 'if', 'then', 'than', 'not', 'no', 'so', 'what', 'its', 'it', 'are', 'has', 'have', 'be', 'inside', 'outside', 'between', 'alone', 'one', 'two',
  'both', 'along', 'edge', 'step', 'before', 'after', 'per', 'only', 'when', 'until', 'do', 'which', 'some', 'any', 'anew', 'once', 'more', 'most', 'less', 'least']);
const english = (token) => token[0] === 'word' && (SMALL.has(token[1]) && token[1] !== 'a' || /^[A-Za-z]{4,}$/.test(token[1]) && !GREEK.has(token[1]) && !OPERATORS.has(token[1]));

function texOfLine(line) {
  const list = tokens(line.trim());
  let out = '', i = 0;
  while (i < list.length) {
    const [kind, text] = list[i], next = list[i + 1];
    if (english(list[i]) && !(next && next[0] === 'char' && next[1] === '(') ) {
      const words = [text];
      let j = i + 1;
      while (j + 1 < list.length && list[j][0] === 'blank' && (english(list[j + 1]) || list[j + 1][1] === 'a' && list[j + 1][0] === 'word')) { words.push(list[j + 1][1]); j += 2; }
      out += `\\text{${words[0] === text && i > 0 ? ' ' : ''}${words.join(' ')} }`;
      i = j;
      continue;
    }
    i++;
    if (kind === 'gap') out += text.length > 2 ? '\\qquad ' : '\\quad ';
    else if (kind === 'blank') out += ' ';
    else if (kind === 'number') out += number(text);
    else if (kind === 'word') out += variable(text);
    else if (kind === 'symbol') out += text;
    else if (text === "'") out += '^{\\mathsf T}';
    else if (text === '^') {
      const power = exponent(list, i);
      out += `^{${power.tex}}`;
      i = power.next;
    } else if (text === '+' && i >= 2 && list[i - 2][0] === 'word' && (!next || !['word', 'number'].includes(next[0]) || false)
      && !(next && next[0] === 'blank' && false)) out += closesName(list, i - 1) ? '^{+}' : '+';
    else if (text === '.' && i >= 2 && next && /^(word|char)$/.test(next[0]) && (next[0] === 'word' || next[1] === '(' || next[1] === '|')) out += '\\cdot ';
    else if (text === '*') out += '\\cdot ';
    else if (text === '|') out += '|';
    else if (text === '"' || text === '`') out += '';
    else if (text === '{' || text === '}') out += '\\' + text;
    else out += escape(text);
  }
  return join(out);
}

/* A plus right behind a name and not before another term is "after the step". */
function closesName(list, at) {
  const before = list[at - 1], after = list[at + 1];
  return before && before[0] === 'word' && (!after || after[0] !== 'word' && after[0] !== 'number');
}

function number(text) {
  const m = /^(\d+(?:\.\d+)?)e([+-]?\d+)$/.exec(text);
  return m ? `${m[1] === '1' ? '' : m[1] + '\\cdot '}10^{${Number(m[2])}}` : text;
}

function exponent(list, i) {
  let tex = '';
  if (list[i]?.[1] === '-') { tex = '-'; i++; }
  if (list[i]?.[1] === '(') {
    let depth = 0;
    do {
      if (list[i][1] === '(') depth++;
      if (list[i][1] === ')') depth--;
      if (!(depth === 1 && list[i][1] === '(') && depth > 0) tex += list[i][0] === 'word' ? variable(list[i][1]) : list[i][1];
      i++;
    } while (i < list.length && depth > 0);
    return { tex, next: i };
  }
  const t = list[i];
  if (!t) return { tex, next: i };
  if (t[0] === 'word') return { tex: tex + (t[1] === 'T' ? '\\mathsf T' : variable(t[1])), next: i + 1 };
  return { tex: tex + (t[0] === 'number' ? number(t[1]) : escape(t[1])), next: i + 1 };
}

/* 1/2 as a fraction, roots over their brackets, the cross product between two vectors. */
function join(tex) {
  return tex.replace(/(^|[^\w.}])(\d)\/(\d)(?![\d.])/g, '$1\\tfrac{$2}{$3}')
    .replace(/\\operatorname\{sqrt\}\s*\(([^()]*(?:\([^()]*(?:\([^()]*\)[^()]*)*\)[^()]*)*)\)/g, '\\sqrt{$1}')
    .replace(/(\w|\}|\)) x (?=[\w\\(])/g, '$1 \\times ')
    .replace(/\^\{\\mathsf T\}\^\{/g, '^{\\mathsf T\\,').replace(/\^\{\+\}\^\{/g, '^{+\\,').replace(/_\{([^{}]*)\}\^\{\\mathsf T\}/g, '_{$1}^{\\mathsf T}');
}

/* Lines of an indented block, its number taken off; null where it is a table, a matrix or a program. */
export function texOf(lines, bare = false) {
  if (lines.some((l) => /\[ |\| {2,}|\t|\/\*|;\s*$|^\s*(for|while|if|repeat) .*:/.test(l))) return null;
  let tag = '';
  const rows = [];
  for (const line of lines) {
    const m = /^(.*?)\s*\(([A-Z]+\.\d+[a-z]?)\)\s*$/.exec(line);
    if (m) tag = tag ? `${tag}, ${m[2]}` : m[2];
    rows.push(texOfLine(m ? m[1] : line));
  }
  if (!tag && !(bare && lines.length <= 6 && lines.every((l) => /[=<>]|_\|_|\^/.test(l)))) return null;
  const body = rows.length === 1 ? rows[0] : `\\begin{aligned}${rows.map((r) => '&' + r).join('\\\\')}\\end{aligned}`;
  return { tex: body, tag };
}
