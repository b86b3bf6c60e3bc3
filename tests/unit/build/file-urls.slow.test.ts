/** Files that modules name by `import.meta.url`, in a build for production. */
import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test, vi } from 'vitest'
import { buildApplication } from '../../../scripts/build/build-application.ts'
import { buildFault, copyProject, type FixtureProject } from './fixture-project.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 })

const PAGE = 'src/app/lab/page.tsx'

const page = (statements: string): string =>
  `\n${statements}\nexport default function LabPage() {\n  return <p>The lab</p>\n}\n`

/** Texts of the scripts of one side whose name begins so. */
async function scripts(project: FixtureProject, side: 'public' | 'server', name = ''): Promise<string> {
  const files = (await project.list(`dist/${side}`)).filter((file) => file.startsWith(name) && file.endsWith('.js'))
  return (await Promise.all(files.map((file) => project.read(`dist/${side}/${file}`)))).join('\n')
}

const urlsIn = (text: string): readonly string[] =>
  [...new Set(Array.from(text.matchAll(/\/_m\/assets\/[\w.-]+/g), ([url]) => url))]
    .filter((url) => !url.endsWith('/'))
    .toSorted()

test('a page has one URL for a file on both sides, and no path of the disk', async () => {
  await using project = await copyProject({
    [PAGE]: page(`
      const urls = [
        new URL('./a%20b.json?v=1#x', import.meta.url).href,
        new URL('./notes.txt', import.meta.url),
        new URL('../base.css', import.meta.url),
        new URL('plain/data.bin', import.meta.url),
      ]
      export const start = () => [
        new Worker(new URL('./count.ts', import.meta.url), { type: 'module' }),
        new Worker(new URL('./count.ts', import.meta.url)),
      ]
      console.log(urls)`),
    'src/app/lab/a b.json': '{"a":1}',
    'src/app/lab/notes.txt': 'notes',
    'src/app/lab/plain/data.bin': 'data',
    'src/app/lab/count.ts': `import { twice } from './twice.ts'\nonmessage = ({ data }: MessageEvent<number>) => postMessage(twice(data))\n`,
    'src/app/lab/twice.ts': `export const twice = (value: number): number => value * 2 + 4711\n`,
  })
  await buildApplication({ ...project.options, basePath: '/shop' }, {})
  const [inBrowser, onServer] = await Promise.all([
    scripts(project, 'public', 'page'),
    scripts(project, 'server', 'page'),
  ])
  const urls = urlsIn(inBrowser)
  expect(urls).toHaveLength(6)
  expect(urlsIn(onServer)).toEqual(urls)
  expect(inBrowser).toContain('/shop/_m/assets/')
  expect(inBrowser).toContain('?v=1#x')

  const contents = await Promise.all(urls.map((url) => project.read(`dist/public/${url.split('/').at(-1)}`)))
  expect(contents.filter((text) => text.includes('4711') && text.includes('postMessage'))).toHaveLength(2)
  expect(contents.filter((text) => /\b(?:import|export)\b/.test(text))).toEqual([])
  expect(contents).toEqual(expect.arrayContaining(['{"a":1}', 'notes', 'data']))
  expect(contents.some((text) => text.includes('{') && text.includes('margin'))).toBe(true)
  const texts = await Promise.all((await project.list('dist')).map((file) => project.read(`dist/${file}`)))
  expect(texts.filter((text) => text.includes(project.options.root))).toEqual([])
})

test('a package names files for pages, and what it does not bring is left alone', async () => {
  await using project = await copyProject({
    [PAGE]: page(`import { urls } from '../../../packages/node_modules/reader/index.js'\nconsole.log(urls)`),
    'packages/node_modules/reader/package.json': '{ "name": "reader", "type": "module" }',
    'packages/node_modules/reader/index.js': `export const urls = () => [
  new Worker(new URL('./work.js', import.meta.url), { type: 'module' }),
  new URL('reader.wasm', import.meta.url),
  new URL('./of-node.txt', import.meta.url),
]`,
    'packages/node_modules/reader/work.js': `postMessage('at work')`,
    'packages/node_modules/reader/reader.wasm': 'wasm',
  })
  await buildApplication(project.options, {})
  const urls = urlsIn(await scripts(project, 'public', 'page'))
  const contents = await Promise.all(urls.map((url) => project.read(`dist/public/${url.split('/').at(-1)}`)))
  expect(contents.map((text) => text.trim()).toSorted()).toEqual(['postMessage("at work");', 'wasm'])
})

test('a server module reads its own files where nothing but the build is', async () => {
  await using project = await copyProject({
    'src/app/home.server.ts': `import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { once } from 'node:events'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { first } from './read.ts'
export async function loader() {
  const worker = new Worker(new URL('./job.ts', import.meta.url))
  const [job] = await once(worker, 'message')
  const texts = await Promise.all([
    readFile(new URL('./mail.html', import.meta.url), 'utf8'),
    readFile(join(import.meta.dirname, 'texts', 'deep', 'a.txt'), 'utf8'),
    readFile(\`\${import.meta.dirname}/mail.html\`, 'utf8'),
    readFile(new URL('./deep/a.txt', new URL('./texts/', import.meta.url)), 'utf8'),
    readFileSync(new URL('./mail.html', import.meta.url), 'utf8'),
    ...['deep/a'].flatMap((name) => [
      readFile(new URL(\`./texts/\${name}.txt\`, import.meta.url), 'utf8'),
      readFile(join(import.meta.dirname, 'texts', name + '.txt'), 'utf8'),
      readFile(\`\${import.meta.dirname}/texts/\${name}.txt\`, 'utf8'),
    ]),
  ])
  return [...texts, first, job]
}
`,
    // Neither a page nor a *.server module: only the loader imports it.
    'src/app/read.ts': `import { readFileSync } from 'node:fs'\nexport const first = readFileSync(new URL('./mail.html', import.meta.url), 'utf8')\n`,
    'src/app/job.ts': `import { parentPort } from 'node:worker_threads'\nimport { label } from './label.ts'\nparentPort?.postMessage(label('job'))\n`,
    'src/app/label.ts': 'export const label = (text: string): string => `[${text}]`\n',
    'src/app/mail.html': 'mail',
    'src/app/texts/deep/a.txt': 'deep',
  })
  await buildApplication(project.options, {})
  await rename(join(project.options.root, 'src'), join(project.options.root, 'gone'))
  const name = (await project.list('dist/server')).find(
    (file) => file.startsWith('home.server') && file.endsWith('.js'),
  )
  const { loader } = await import(pathToFileURL(join(project.options.out, 'server', name ?? '')).href)
  expect(await loader()).toEqual(['mail', 'deep', 'mail', 'deep', 'mail', 'deep', 'deep', 'deep', 'mail', '[job]'])
  expect((await project.list('dist/public')).filter((file) => /mail|texts|job/.test(file))).toEqual([])
})

const SERVER = 'src/app/home.server.ts'

test.for([
  [
    'a missing file',
    PAGE,
    page(`console.log(new URL('./none.png', import.meta.url))`),
    /There is no file src\/app\/lab\/none\.png\.[^]*src\/app\/lab\/page\.tsx:2:12:/,
  ],
  [
    'a missing worker',
    PAGE,
    page(`export const w = () => new Worker(new URL('./none.ts', import.meta.url))`),
    /There is no file src\/app\/lab\/none\.ts\.[^]*src\/app\/lab\/page\.tsx:2:34:/,
  ],
  [
    'a missing file of a package',
    PAGE,
    page(`console.log(new URL('none/none.js', import.meta.url))`),
    /Could not resolve "none\/none\.js" of new URL[^]*src\/app\/lab\/page\.tsx:2:/,
  ],
  [
    'a folder',
    PAGE,
    page(`console.log(new URL('../lab', import.meta.url))`),
    /src\/app\/lab is a folder: name each of its files/,
  ],
  [
    'a name that is computed',
    PAGE,
    page('export const u = (name: string) => new URL(`./${name}.png`, import.meta.url)'),
    /has to name its file in a plain text[^]*page\.tsx:2:44:/,
  ],
  [
    'import.meta.url',
    PAGE,
    page(`console.log('ü', import.meta.url)`),
    /import\.meta\.url is a path of the server's disk while a page is rendered there\. Name a file by new URL[^]*page\.tsx:2:18:/,
  ],
  [
    'import.meta.dirname',
    PAGE,
    page(`console.log(import.meta.dirname + '/x')`),
    /import\.meta\.dirname is a path of the server's disk/,
  ],
  [
    'import.meta.filename',
    PAGE,
    page(`console.log(import.meta.filename)`),
    /import\.meta\.filename is a path of the server's disk/,
  ],
  [
    'import.meta',
    PAGE,
    page(`const { url } = import.meta\nconsole.log(url)`),
    /import\.meta is a path of the server's disk/,
  ],
  [
    'import.meta.glob',
    PAGE,
    page(`console.log(import.meta.glob('./*.md'))`),
    /import\.meta\.glob is Vite's: import each file by its name/,
  ],
  [
    'import.meta.env',
    PAGE,
    page(`console.log(import.meta.env.PROD)`),
    /reads import\.meta\.env\.PROD[^]*process\.env\.NODE_ENV tells development from production/,
  ],
  [
    'a missing file on the server',
    SERVER,
    `console.log(new URL('./none.html', import.meta.url))\nexport const loader = () => 1\n`,
    /There is no file src\/app\/none\.html\.[^]*src\/app\/home\.server\.ts:1:12:/,
  ],
  [
    'import.meta.env on the server',
    SERVER,
    `export const loader = () => import.meta.env.VITE_KEY\n`,
    /import\.meta\.env is Vite's: read process\.env\.NODE_ENV/,
  ],
  [
    'import.meta.glob on the server',
    SERVER,
    `export const loader = () => import.meta.glob('./*.md')\n`,
    /import\.meta\.glob is Vite's/,
  ],
] as const)('%s stops the build, with its place and the way out', async ([, file, text, told]) => {
  const fault = await buildFault({ [file]: text })
  expect(fault).toMatch(told)
})

test('a worker that imports server code stops the build', async () => {
  const fault = await buildFault({
    [PAGE]: page(`export const w = () => new Worker(new URL('./work.ts', import.meta.url))`),
    'src/app/lab/work.ts': `import { readBook } from './guest-book.server.ts'\nconsole.log(readBook)\n`,
  })
  expect(fault).toMatch(
    /Server code would reach the browser: src\/app\/lab\/guest-book\.server\.ts[^]*src\/app\/lab\/work\.ts/,
  )
})

test('workers that name each other stop the build instead of making it wait', async () => {
  const fault = await buildFault({
    [PAGE]: page(
      `export const w = () => [new Worker(new URL('./one.ts', import.meta.url)), new Worker(new URL('./two.ts', import.meta.url))]`,
    ),
    'src/app/lab/one.ts': `new Worker(new URL('./two.ts', import.meta.url))\n`,
    'src/app/lab/two.ts': `new Worker(new URL('./one.ts', import.meta.url))\n`,
  })
  expect(fault).toContain('is a script that names itself by URL')
})
