import { expect, test } from 'vitest'
import { scriptsOf, staticImports } from '../../bench/client-scripts.ts'

test('loaded and preloaded scripts of a document count, each once, styles and what is for old browsers do not', () => {
  const html = `<link rel="stylesheet" href="/a.css"><link rel="modulepreload" href="/chunk.js" nonce="x">
    <link nonce="x" href="/page.js" rel="modulepreload"/><script>inline()</script>
    <script src="/old.js" noModule=""></script><script type="module" src="/entry.js" async=""></script><link rel="modulepreload" href="/entry.js">`
  expect(scriptsOf(html)).toEqual(['/entry.js', '/chunk.js', '/page.js'])
})

test('static imports of a minified module are followed, dynamic ones are not', () => {
  const script = `import{a as b}from"./one.js";import"./two.js";import*as c from"/three.js";export{d}from"./four.js";import("./five.js");x("./six.js")`
  expect(staticImports(script)).toEqual(['./one.js', './two.js', '/three.js', './four.js'])
})
