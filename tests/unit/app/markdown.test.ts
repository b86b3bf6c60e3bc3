import { describe, expect, it } from 'vitest'
import { renderMarkdown } from '../../../src/app/docs/markdown.server.ts'

describe('markdown', () => {
  it('shows raw HTML as text', () => {
    const { html } = renderMarkdown('A <script>alert(1)</script> b.\n\n<img src=x onerror=alert(1)>\n')
    expect(html).not.toMatch(/<script|<img/)
    expect(html).toContain('&lt;script&gt;')
  })

  it.each(['javascript:alert(1)', 'data:text/html,x', '//evil.test/', '/\\evil.test', 'vbscript:x', ' javascript:x'])(
    'makes no link of %s',
    (target) => {
      expect(renderMarkdown(`[text](<${target}>)`).html).not.toContain('<a')
    },
  )

  it.each(['/docs', 'https://example.com/?a=1&b=2', 'https://example.com/#part', '#', 'mailto:a@example.com'])(
    'links to %s',
    (target) => {
      expect(renderMarkdown(`[text](${target})`).html).toContain(`<a href="${target.replace('&', '&amp;')}"`)
    },
  )

  it('gives headings ids that a link can name, and numbers those that occur twice', () => {
    const { html, headings } = renderMarkdown('## A `code` & more\n\n### Über uns\n\n## Again\n\n## Again\n')
    expect(headings).toEqual([
      { id: 'section-a-code-more', text: 'A code & more', depth: 2 },
      { id: 'section-über-uns', text: 'Über uns', depth: 3 },
      { id: 'section-again', text: 'Again', depth: 2 },
      { id: 'section-again-2', text: 'Again', depth: 2 },
    ])
    for (const { id } of headings) expect(html).toContain(`id="${id}"`)
  })

  it.each([
    ['#part', '#section-part'],
    ['/docs/rules#order', '/docs/rules#section-order'],
    ['rules#order', 'rules#section-order'],
    ['/lab#part', '/lab#part'],
  ])('leads from %s to %s: ids have a prefix', (target, href) => {
    expect(renderMarkdown(`[text](${target})`).html).toContain(`<a href="${href}"`)
  })

  it.each(['Millrace', '__millrace', 'body', '???', '你好'])(
    'gives the heading %s an id that no script looks for',
    (text) => {
      expect(renderMarkdown(`## ${text}\n`).html).toMatch(/<h2 id="section-[^"]+">/)
    },
  )

  it('keeps what one heading took from being taken by the next chapter', () => {
    renderMarkdown('## Same\n')
    expect(renderMarkdown('## Same\n').headings[0]?.id).toBe('section-same')
  })

  it.each(['ts', 'tsx', 'bash', 'json', 'css', 'http'])('highlights %s', (lang) => {
    const sample = { bash: 'echo "a"', json: '{"a": 1}', css: 'a { color: red }', http: 'GET / HTTP/1.1' }[lang]
    expect(renderMarkdown(`\`\`\`${lang}\n${sample ?? 'const a = 1'}\n\`\`\`\n`).html).toContain('<span class="hljs-')
  })

  it('shows code of an unknown language as it is, escaped', () => {
    const { html } = renderMarkdown('```nginx"x\n<a> & b\n```\n')
    expect(html).toContain('&lt;a&gt; &amp; b')
    expect(html).not.toContain('nginx"x example')
  })

  it('names the file of a sample that begins with it', () => {
    const { html } = renderMarkdown('```ts\n// src/app/[id]/page.server.ts\nconst a = 1\n```\n')
    expect(html).toMatch(
      /^<figure class="code"><figcaption>src\/<wbr>app\/<wbr>\[id\]\/<wbr>page\.server\.ts<\/figcaption><pre><code><span/,
    )
    expect(renderMarkdown('```ts\n// Of wood. See mill.ts\n```\n').html).not.toContain('figcaption')
  })

  it('marks the lines that the fence names, also within a comment of several lines', () => {
    const sample = '// mill.ts\nconst a = 1\n/* one\ntwo\nthree */\nconst b = 2\n'
    const { html } = renderMarkdown(`\`\`\`ts {1,3-4}\n${sample}\`\`\`\n`)
    const marks = [...html.matchAll(/<mark>(.*?)<\/mark>/g)].map(([, line = '']) => line)
    expect(marks.map((line) => line.replaceAll(/<[^>]+>/g, ''))).toEqual(['const a = 1', 'two', 'three */'])
    expect(marks.map((line) => line.split('<span').length - line.split('</span>').length)).toEqual([0, 0, 0])
    expect(html.split('<span').length).toBe(html.split('</span>').length)
    expect(html.replaceAll(/<figcaption>.*<\/figcaption>|<[^>]+>/g, '').trim()).toBe(sample.slice(11).trim())
    expect(renderMarkdown('```ts\nconst a = {1}\n```\n').html).not.toContain('<mark>')
  })

  it('shows how three package managers install something', () => {
    const { html } = renderMarkdown('```bash npm\nnpm install pg\nnpm install --save-dev @types/pg\nnpm run dev\n```\n')
    const blocks = [...html.matchAll(/>(\w+)<\/label><div class="code"><pre><code>([^]*?)<\/code>/g)]
    expect(blocks.map(([, manager, code = '']) => [manager, code.replaceAll(/<[^>]+>/g, '')])).toEqual([
      ['npm', 'npm install pg\nnpm install --save-dev @types/pg\nnpm run dev'],
      ['pnpm', 'pnpm add pg\npnpm add --save-dev @types/pg\npnpm dev'],
      ['Yarn', 'yarn add pg\nyarn add --dev @types/pg\nyarn dev'],
    ])
  })

  it('leads from the types of a signature to where they are described, and from no other code', () => {
    const links = new Map([
      ['Mill', '/docs/reference/mills#section-mill'],
      ['MillOptions', '/docs/reference/mills#b'],
    ])
    const code = 'interface MillOptions {\n  mill: Mill\n}\n'
    const { html } = renderMarkdown(`\`\`\`ts signature\n${code}\`\`\`\n`, links)
    expect(html.match(/<a [^>]*>[^<]*/g)).toEqual(['<a href="/docs/reference/mills#section-mill">Mill'])
    expect(renderMarkdown(`\`\`\`ts\n${code}\`\`\`\n`, links).html).not.toContain('<a ')
  })

  it('gives a narrow table the names of its columns, whatever characters they have', () => {
    const { html } = renderMarkdown('| a | `b` "c" & d | e\\\\\'s |\n|---|---|---|\n| 1 | 2 | 3 |\n')
    expect(html).toContain(`<table style="--c2:'b \\22 c\\22  \\26  d';--c3:'e\\5c \\27 s'">`)
    expect(renderMarkdown('| a | b |\n|---|---|\n| 1 | 2 |\n').html).toContain('<table>')
  })

  it('names the header cells of a table', () => {
    const { html } = renderMarkdown('| a | b |\n|---|---|\n| `1` | 2 |\n')
    expect(html).toContain('<th scope="col">a</th>')
    expect(html).toContain('<td><code>1</code></td>')
  })
})
