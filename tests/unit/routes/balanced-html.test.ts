import { array, assert, constantFrom, letrec, oneof, property, tuple } from 'fast-check'
import { parse, serialize, type DefaultTreeAdapterTypes } from 'parse5'
import { expect, test } from 'vitest'
import { isBalanced } from '../../../src/server/routes/render/balanced-html.ts'

type Element = DefaultTreeAdapterTypes.Element

const AROUND: Readonly<Record<string, readonly [before: string, after: string]>> = {
  td: ['<table><tbody><tr>', '</tr></tbody></table>'],
  li: ['<ul>', '</ul>'],
  span: ['<p>', '</p>'],
}

/** What a browser finds in the element, and whether what follows it is where it belongs. */
function parsed(text: string, tag: string) {
  const [before, after] = AROUND[tag] ?? ['', '']
  const html = `<html><head></head><body><main>${before}<${tag} data-mark="">${text}</${tag}>${after}</main><i id="end"></i></body></html>`
  const tree = parse(html)
  const body = (tree.childNodes[0] as Element).childNodes.at(-1) as Element
  const find = (node: Element): Element | undefined =>
    node.attrs?.some(({ name }) => name === 'data-mark')
      ? node
      : node.childNodes?.reduce<Element | undefined>((found, child) => found ?? find(child as Element), undefined)
  const found = find(body)
  const last = body.childNodes.at(-1) as Element
  return { inner: found && serialize(found), rest: [body.childNodes.length, last.tagName, last.childNodes.length] }
}

const PARTS = [
  'text', '&amp;', ' < ', '<b>', '</b>', '<p>', '</p>', '<p class="a>b">', '<br>', '<br/>', '<img alt=\'</div>\'>', '<div>', '</div>', '</DIV>',
  '<ul>', '<li>', '</li>', '</ul>', '<table>', '<tbody>', '<tr>', '<td>', '</td>', '</tr>', '</tbody>', '</table>', '<a href=x>', '</a>',
  '<!-- </div> -->', '<!-->', '<!--', '-->', '--!>', '<pre>', '\n', '</pre>', '<textarea>', '</textarea>', '<script>', '</script>', '<title>', '</title>',
  '<svg>', '<path/>', '<path d=M/>', '</svg>', '<select>', '<option>', '</option>', '</select>', '<form>', '</form>', '<button>', '</button>', '<h1>', '</h1>', '<h2>', '</h2>',
  '<span>', '</span>', '<td', '"', '\'', '>', '<i a="', '<i a=b"c>', '</i>', '<template>', '</template>', '<details open>', '</details>', '<body>', '</body>', '<image>', '</html>',
] // prettier-ignore

const ELEMENTS = (
  'a b i p div span ul ol li dl dt dd table tbody tr td th caption pre h1 h2 form button select option details ' +
  'summary section svg math g title style textarea label nobr object marquee ruby rt fieldset legend video address center font'
).split(' ')

/** Parts in any order, and elements in each other, which a parser may move all the same. */
const texts = letrec<{ readonly node: string; readonly any: string; readonly tree: string }>((tie) => ({
  any: array(constantFrom(...PARTS), { maxLength: 12 }).map((parts) => parts.join('')),
  tree: array(tie('node'), { maxLength: 4 }).map((nodes) => nodes.join('')),
  node: oneof(
    { maxDepth: 4 },
    constantFrom('text', '<br>', '<hr/>', '<img>', '<input>', '<!-- c -->'),
    tuple(constantFrom(...ELEMENTS), tie('tree')).map(([name, content]) => `<${name}>${content}</${name}>`),
  ),
}))

/** Elements in which a document can have HTML. */
const TAGS = ['div', 'article', 'td', 'li', 'span', 'h1']

test('is said of no HTML that a parser finds elsewhere, or of which it finds a part', () => {
  const seen = { balanced: 0 }
  assert(
    property(oneof(texts.any, texts.tree), constantFrom(...TAGS), (text, tag) => {
      if (!isBalanced(text, tag)) return
      seen.balanced += 1
      const { inner, rest } = parsed(text, tag)
      expect(rest).toEqual([2, 'i', 0])
      expect(inner?.match(/text/g)?.length).toBe(text.match(/text/g)?.length)
    }),
    { numRuns: 5_000 },
  )
  expect(seen.balanced).toBeGreaterThan(500)
})

test.each([
  ['<h2 id="a">A</h2><p>b <a href="/c?d=1&amp;e">f</a><br/><img alt="" src=x></p>', 'article', true],
  ['<table><tr><td>1</td></tr></table><ul><li>2</li></ul><dl><dt>a</dt><dd>b</dd></dl>', 'div', true],
  ['<figure><pre><code>a &lt; b</code></pre><figcaption>c</figcaption></figure>', 'section', true],
  ['<svg viewBox="0 0 1 1"><title>t</title><path d="M0 0"/></svg><!-- c --><iframe src="/x"></iframe>', 'div', true],
  ['<style>a > b {}</style><script>if (a < b) c()</script>', 'div', true],
  ['<li>a</li>', 'ul', true],
  ['<li>a</li>', 'div', false],
  ['<b>a</b>', 'p', true],
  ['<div>a</div>', 'p', false],
  ['<p>a<p>b', 'div', false],
  ['a</div><div>', 'div', false],
  ['<pre>\n\na</pre>', 'div', false],
  ['<template shadowrootmode="open"></template>', 'div', false],
  ['a < b', 'div', false],
  ['<select><ul><input></ul></select>', 'li', false],
  ['<table><table></table><th></th></table>', 'td', false],
  [`${'<b>'.repeat(600)}${'</b>'.repeat(600)}`, 'div', false],
])('%# is judged: %s in %s', (text, tag, balanced) => {
  expect(isBalanced(text, tag)).toBe(balanced)
})

test('takes time in proportion to the text, for any text', () => {
  const unit = ['<i a="', '<!-- ', '<b ', '<i =', '</b ', '<style>', '<svg>', "<i a='\"' ", '<b></b>']
  for (const part of unit) {
    const text = part.repeat(Math.floor(1_000_000 / part.length))
    expect(typeof isBalanced(text, 'div')).toBe('boolean')
  }
})
