import { expect, test } from 'vitest'
import { metaUses } from '../../../scripts/build/assets/file-references.ts'

/** What the build takes each expression for: the reference, or the other uses of `import.meta`. */
function seen(text: string, file = 'page.tsx'): readonly (string | undefined)[] {
  const { references, others } = metaUses(file, text)
  return [
    ...references.map(({ kind, path, runs, isFolder }) =>
      [kind, path, runs, isFolder && '…'].filter(Boolean).join(' '),
    ),
    ...others.map(({ name }) => `other ${name}`.trim()),
  ]
}

test.for([
  [`new URL('./a.png', import.meta.url)`, ['url ./a.png']],
  ['new URL(`./a.png`, import.meta.url)', ['url ./a.png']],
  [`const A = () => <img src={new URL("./a.png?v=1", import.meta.url).href} />`, ['url ./a.png?v=1']],
  [`new URL('./a.png', import.meta.url as string)`, ['url ./a.png']],
  [`new URL('pkg/a.png', (import.meta.url))`, ['url pkg/a.png']],
  [`new Worker(new URL('./a.ts', import.meta.url), { type: 'module' })`, ['url ./a.ts module']],
  [`new window.Worker(new URL('./a.ts', import.meta.url), { name: 'a', 'type': 'module' })`, ['url ./a.ts module']],
  [`new Worker(new URL('./a.ts', import.meta.url))`, ['url ./a.ts classic']],
  [`new SharedWorker(new URL('./a.ts', import.meta.url), options)`, ['url ./a.ts classic']],
  [`fork(new URL('./a.ts', import.meta.url))`, ['url ./a.ts classic']],
  [`new Other(new URL('./a.ts', import.meta.url))`, ['url ./a.ts']],
  [`join(import.meta.dirname, 'a', 'b.html')`, ['path a/b.html']],
  [`path.resolve(import.meta.dirname, '../b.html')`, ['path ../b.html']],
  ['`${import.meta.dirname}/b.html`', ['text b.html']],
  [`join(import.meta.dirname, name)`, ['other dirname']],
  ['`${import.meta.dirname}/${name}`', ['other dirname']],
  [`new URL(name, import.meta.url)`, ['other new URL']],
  ['new URL(`${name}.png`, import.meta.url)', ['other new URL']],
  ['new URL(`./mails/${name}.html`, import.meta.url)', ['url ./mails/ …']],
  [`join(import.meta.dirname, 'mails', name)`, ['path mails …']],
  ['`${import.meta.dirname}/mails/${name}.html`', ['text mails/ …']],
  [`new URL('/a.png', import.meta.url)`, ['other url']],
  [`new URL('https://example.com/a.png', import.meta.url)`, []],
  [`new URL('./a.png', location.href)`, []],
  [`import.meta.glob('./*.ts')`, ['other glob']],
  [
    `import.meta.env.MODE; import.meta.hot?.accept(); import.meta.filename`,
    ['other env', 'other hot', 'other filename'],
  ],
  [`const { url } = import.meta`, ['other']],
  [`// new URL('./a.png', import.meta.url)\nconst text = "new URL('./a.png', import.meta.url)"`, []],
  [`const regex = /new URL\\('.\\/a.png', import.meta.url\\)/`, []],
  [`import.meta.url is no code`, []],
] as const)('%s', ([text, expected]) => {
  expect(seen(text).toSorted()).toEqual(expected.toSorted())
})

test('types are no code either', () => {
  expect(
    seen(`type A = typeof import.meta.url\nexport const a: A = 'a'`, 'a.ts').filter((use) => use !== 'other url'),
  ).toEqual([])
})
