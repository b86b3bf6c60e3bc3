import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { build } from 'esbuild'
import { expect, test } from 'vitest'
import { createAssetFiles } from '../../../scripts/build/assets/asset-files.ts'
import { makeTempDir } from '../../support/temp-dir.ts'

/** Bundles `entry` in a folder of these files; returns its text and the names of what is served, each with its contents. */
async function bundle(files: Readonly<Record<string, string>>, entry: string) {
  await using folder = await makeTempDir('assets')
  for (const [name, text] of Object.entries(files)) {
    const file = join(folder.path, name)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text)
  }
  const { plugin, emitted } = createAssetFiles()
  const { outputFiles } = await build({
    entryPoints: [join(folder.path, entry)],
    bundle: true,
    write: false,
    format: 'esm',
    logLevel: 'silent',
    charset: 'utf8',
    plugins: [plugin],
  })
  const served = new Map([...emitted].map(([name, contents]) => [name, Buffer.from(contents).toString()]))
  return { text: outputFiles[0]?.text ?? '', served }
}

/** The file that a browser gets for a URL in a stylesheet or a script. */
function fileAt(served: ReadonlyMap<string, string>, url: string): string | undefined {
  const { pathname } = new URL(url, 'http://localhost')
  return served.get(pathname.replace('/_m/assets/', ''))
}

const NAMES = [
  'füße 1.png',
  "it's (1) [2].png",
  'c#.png',
  'what?.png',
  '100%.png',
  'a%20b.png',
  'PHOTO.PNG',
  'Photo.JpEg',
  '日本.webp',
  '.png',
  '-.svg',
  'a&b=c+d;e,f@g!$~`^{}|"<>.gif',
  `${'long-'.repeat(40)}.png`,
  'river.ttf',
  'river.otf',
  'river.eot',
  'two.dots.min.svg',
  'e\u0301 and \u00e9.png',
  'back\\slash.png',
] as const

test.for(NAMES)('a script that imports %s gets a URL at which the file is', async (name) => {
  const path = `./${name}`
  const { text, served } = await bundle(
    { [name]: 'contents', 'entry.js': `import url from ${JSON.stringify(path)}\nconsole.log(url)` },
    'entry.js',
  )
  const url = /"(\/_m\/assets\/[^"]+)"/.exec(text)?.[1] ?? ''
  expect(url).toMatch(/^\/_m\/assets\/[\w.-]+$/)
  expect(fileAt(served, url)).toBe('contents')
})

test.for(NAMES)('a stylesheet that names %s as it is, or encoded, gets a URL at which the file is', async (name) => {
  const quoted = (path: string): string => `url("./${path.replaceAll(/["\\]/g, String.raw`\$&`)}")`
  const { text, served } = await bundle(
    { [name]: 'contents', 'a.css': `a { src: ${quoted(name)} } b { src: ${quoted(encodeURIComponent(name))} }` },
    'a.css',
  )
  const urls = [...text.matchAll(/url\("?([^")]+)"?\)/g)].map(([, url = '']) => fileAt(served, url))
  expect(urls).toEqual(['contents', 'contents'])
})

test('the query and the fragment of a URL in a stylesheet stay', async () => {
  const { text, served } = await bundle(
    {
      'river.eot': 'font',
      'marks.svg': 'marks',
      'a.css': `a { src: url('./river.eot?#iefix'); mask: url(marks.svg#leaf); cursor: url(./marks.svg?v=1#leaf) }`,
    },
    'a.css',
  )
  const urls = [...text.matchAll(/url\("?([^")]+)"?\)/g)].map(([, url = '']) => url)
  expect(urls.map((url) => url.replace(/^[^?#]+/, ''))).toEqual(['?#iefix', '#leaf', '?v=1#leaf'])
  expect(urls.map((url) => fileAt(served, url))).toEqual(['font', 'marks', 'marks'])
})

test('fonts of a package are found by its stylesheet, and by one that names the package', async () => {
  const { text, served } = await bundle(
    {
      'node_modules/fonts/package.json': '{ "name": "fonts" }',
      'node_modules/fonts/fonts.css': `a { src: url('./files/river.ttf') }`,
      'node_modules/fonts/files/river.ttf': 'font',
      'a.css': `@import 'fonts/fonts.css'; b { src: url('fonts/files/river.ttf?x') }`,
    },
    'a.css',
  )
  const urls = [...text.matchAll(/url\("?([^")]+)"?\)/g)].map(([, url = '']) => fileAt(served, url))
  expect(urls).toEqual(['font', 'font'])
})

test('URLs of the site and of other sites, and data, stay as they are', async () => {
  const css = `a { src: url(/logo.png); mask: url(https://example.com/a%20b.png); cursor: url(data:image/png;base64,AA==) }`
  const { text, served } = await bundle({ 'a.css': css }, 'a.css')
  expect(text).toContain('url(/logo.png)')
  expect(text).toContain('url(https://example.com/a%20b.png)')
  expect(served.size).toBe(0)
})

test('a missing file and a folder stop the build, and are named', async () => {
  await expect(bundle({ 'entry.js': `import './none%.png'` }, 'entry.js')).rejects.toThrow('none%.png')
  await expect(bundle({ 'entry.js': `import './folder.png'`, 'folder.png/x': '' }, 'entry.js')).rejects.toThrow(
    'folder.png',
  )
})
