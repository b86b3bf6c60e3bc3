import { spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { deflateSync, crc32 } from 'node:zlib'
import request from 'supertest'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createTestApp, renderRoute, type TestDefinition } from 'millrace/testing'
import { createElement } from 'react'
import { fencedBlocks } from '../../unit/app/handbook-samples.ts'
import { makeTempDir, type TempDir } from '../../support/temp-dir.ts'
import { imageProps, WIDTHS } from '../../fixtures/recipes/images/images/widths.ts'

const PROJECT = resolve(import.meta.dirname, '../../..')
const RECIPE = join(PROJECT, 'tests/fixtures/recipes/images')

test('the chapter shows what the tests below run', async () => {
  const blocks = fencedBlocks(await readFile(join(PROJECT, 'docs/image-sizes.md'), 'utf8'))
  const shown = blocks.flatMap(({ code }) => {
    const [line, path] = /^\/\/ src\/app\/(\S+)\n/.exec(code) ?? []
    return line === undefined || path === undefined ? [] : [{ path, code: code.slice(line.length) }]
  })
  expect(shown.map(({ path }) => path)).toHaveLength(3)
  for (const { path, code } of shown) expect(`${code}\n`).toBe(await readFile(join(RECIPE, path), 'utf8'))
})

let folder: TempDir
let routes: TestDefinition['routes']

beforeAll(async () => {
  folder = await makeTempDir('images')
  vi.stubEnv('IMAGES_DIR', folder.path)
  const handler = await import('../../fixtures/recipes/images/images/handler.server.ts')
  const noise = randomBytes(1_000 * 600 * 3)
  const photo = sharp(noise, { raw: { width: 1_000, height: 600, channels: 3 } })
  // Taken with the camera held upright, at a place that nobody is to know.
  await photo
    .withMetadata({ orientation: 6 })
    .withExifMerge({ IFD3: { GPSLatitude: '51/1 30/1 0/1' } })
    .jpeg()
    .toFile(original('mill.jpg'))
  routes = { '/images/[width]/[name]': { handler: () => Promise.resolve(handler) } }
})
afterAll(() => folder.remove())

const original = (name: string): string => join(folder.path, name)

/** An application on the originals, and a way to ask it. */
function opened() {
  const app = createTestApp({ routes })
  onTestFinished(() => app.stop())
  const get = (path: string, accept = 'image/webp,*/*') =>
    request(app).get(path).set('Accept', accept).responseType('blob')
  return { app, get }
}

describe('an image', () => {
  test('has the width of its URL, upright, without the place where it was taken', async () => {
    const { get } = opened()
    const answer = await get('/images/320/mill.jpg').expect(200)
    const { format, width, height, exif, orientation } = await sharp(answer.body).metadata()
    expect({ format, width, height, exif, orientation }).toEqual({
      format: 'webp',
      width: 320,
      height: 533,
      exif: undefined,
      orientation: undefined,
    })
    const large = await sharp((await get('/images/1920/mill.jpg')).body).metadata()
    expect(large.width).toBe(600) // not made larger
  })

  test.for([
    ['image/avif,image/webp,*/*', 'image/avif'],
    ['image/webp,*/*', 'image/webp'],
    ['*/*', 'image/jpeg'],
  ] as const)('for a browser that accepts %s is %s, and caches know why', async ([accept, type]) => {
    const { headers, body } = await opened().get('/images/320/mill.jpg', accept).expect(200)
    expect(headers['content-type']).toBe(type)
    expect(headers['vary']).toMatch(/\bAccept\b/)
    expect(headers['cache-control']).toBe('public, max-age=86400')
    // The recipe blocks decoding AVIF in the whole process.
    const format = type === 'image/avif' ? String(body.subarray(8, 12)) : (await sharp(body).metadata()).format
    expect(`image/${format}`).toBe(type)
  })

  test('is made once for all who ask, and then answered by its ETag', async () => {
    const { app, get } = opened()
    const answers = await Promise.all(Array.from({ length: 8 }, () => get('/images/640/mill.jpg').expect(200)))
    const sums = answers.map(({ body }) => createHash('sha256').update(body).digest('hex'))
    expect(new Set(sums).size).toBe(1)
    const [first] = answers
    const again = await get('/images/640/mill.jpg')
      .set('If-None-Match', first?.headers['etag'] ?? '')
      .expect(304)
    expect(again.headers['vary']).toMatch(/\bAccept\b/)
    // What is made is on the disk: a changed file is what visitors get.
    const [version = ''] = await readdir(join(app.dataDir, 'images/mill.jpg'))
    await writeFile(join(app.dataDir, 'images/mill.jpg', version, '640.webp'), 'kept')
    expect(String((await get('/images/640/mill.jpg')).body)).toBe('kept')
  })

  test('is made again when its original has changed, and the former sizes are gone', async () => {
    const { app, get } = opened()
    await sharp({ create: { width: 400, height: 400, channels: 3, background: 'red' } })
      .png()
      .toFile(original('sign.png'))
    const before = await get('/images/320/sign.png').expect(200)
    await sharp({ create: { width: 400, height: 200, channels: 3, background: 'blue' } })
      .png()
      .toFile(original('sign.png'))
    await utimes(original('sign.png'), new Date(), new Date(Date.now() + 5_000))
    const after = await get('/images/320/sign.png').expect(200)
    expect(after.headers['etag']).not.toBe(before.headers['etag'])
    expect((await sharp(after.body).metadata()).height).toBe(160)
    expect(await readdir(join(app.dataDir, 'images/sign.png'))).toHaveLength(1)
  })
})

describe('what is refused', () => {
  test.for([
    ['another width', '/images/321/mill.jpg'],
    ['no width', '/images/NaN/mill.jpg'],
    ['an image that is not there', '/images/320/none.jpg'],
    ['a path', '/images/320/..%2Fmill.jpg'],
    ['a hidden file', '/images/320/.mill.jpg'],
    ['another kind of file', '/images/320/mill.svg'],
  ] as const)('%s is 404', async ([, path]) => {
    await opened().get(path).expect(404)
  })

  test('an image of a billion pixels, before it is decoded', async () => {
    await writeFile(original('bomb.png'), claimingPng(40_000, 40_000))
    expect((await stat(original('bomb.png'))).size).toBeLessThan(200)
    const { app, get } = opened()
    await get('/images/320/bomb.png').expect(404)
    expect(JSON.stringify(app.logs)).toContain('pixel limit')
  })

  test.for([
    ['a progressive JPEG', 'jpg', () => claimingJpeg(true)],
    ['an interlaced PNG', 'png', () => Promise.resolve(claimingPng(3_100, 3_100, { depth: 16, isInterlaced: true }))],
    ['a WebP', 'webp', () => plain(3_100, 3_100).webp({ lossless: true, effort: 0 }).toBuffer()],
  ] as const)('%s whose decoding could take more than 150 MB', async ([, extension, make]) => {
    await writeFile(original(`greedy.${extension}`), await make())
    const { app, get } = opened()
    await get(`/images/320/greedy.${extension}`).expect(404)
    expect(JSON.stringify(app.logs)).toMatch(/decoding takes up to 15\d{7} bytes/)
  })

  test('no other JPEG or PNG of the same size for that', async () => {
    await writeFile(original('plain.jpg'), await claimingJpeg(false))
    await writeFile(original('plain.png'), claimingPng(3_100, 3_100))
    const { app, get } = opened()
    for (const name of ['plain.jpg', 'plain.png']) await get(`/images/320/${name}`)
    expect(JSON.stringify(app.logs)).not.toContain('decoding takes')
  })

  test('an AVIF, under any name', async () => {
    await writeFile(original('small.jpg'), await plain(20, 20).avif({ effort: 0 }).toBuffer())
    const { app, get } = opened()
    await get('/images/320/small.jpg').expect(404)
    expect(JSON.stringify(app.logs)).toContain('unsupported image format')
    await get('/images/320/small.avif').expect(404)
  })

  test('one on which a process has ended, for an hour', async () => {
    const { app, get } = opened()
    await writeFile(original('crash.png'), await plain(400, 400).png().toBuffer())
    await get('/images/640/crash.png').expect(200)
    const [version = ''] = await readdir(join(app.dataDir, 'images/crash.png'))
    const made = join(app.dataDir, 'images/crash.png', version)
    expect(await readdir(made)).toEqual(['640.webp'])
    const leave = (width: number, pid = 0) => writeFile(join(made, `${width}.webp.pid`), String(pid))
    await leave(320, process.ppid) // another worker, which is making it
    await get('/images/320/crash.png').expect(200)
    const gone = spawnSync('true').pid
    await Promise.all([leave(1280, process.pid), leave(1920, gone)])
    for (const width of [1280, 1920]) await get(`/images/${width}/crash.png`).expect(404)
    vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 3_600_001)
    onTestFinished(() => void vi.restoreAllMocks())
    for (const width of [1280, 1920]) await get(`/images/${width}/crash.png`).expect(200)
  })

  test('none before the file that says so is written', async () => {
    const { resized } = await import('../../fixtures/recipes/images/images/resize.server.ts')
    const size = {
      original: original('mill.jpg'),
      folder: join(folder.path, 'marks'),
      width: 320,
      format: 'avif',
    } as const
    const made = resized(size, 'one', new AbortController().signal)
    const files = async () => (await readdir(size.folder, { recursive: true }).catch(() => [])).join()
    await expect.poll(files, { interval: 1 }).toContain('320.avif.pid')
    expect(await made).toMatch(/320\.avif$/)
    expect(await files()).not.toContain('.pid')
  })

  test('a drawing under the name of a photo, which could load other files', async () => {
    const svg =
      '<svg xmlns="http://www.w3.org/2000/svg" width="400" height="400"><image href="file:///etc/passwd"/></svg>'
    await writeFile(original('drawing.png'), svg)
    await opened().get('/images/320/drawing.png').expect(404)
  })

  test('one that could not be decoded, without another try, until an hour is over or it is another file', async () => {
    const whole = await readFile(original('mill.jpg'))
    await writeFile(original('slow.jpg'), whole.subarray(0, whole.length / 2))
    const { app, get } = opened()
    await get('/images/320/slow.jpg').expect(404)
    await get('/images/640/slow.jpg').expect(404)
    const later = Date.now() + 3_600_001
    vi.spyOn(Date, 'now').mockReturnValue(later)
    onTestFinished(() => void vi.restoreAllMocks())
    await get('/images/320/slow.jpg').expect(404)
    const said = app.logs.map((line) => JSON.stringify(line)).filter((line) => line.includes('be resized'))
    expect(said.map((line) => line.includes('be resized before'))).toEqual([false, true, false])
    await writeFile(original('slow.jpg'), whole)
    await get('/images/320/slow.jpg').expect(200)
  })

  test('more than fifty in progress or waiting for one client; another client does not wait behind them', async () => {
    const { resized } = await import('../../fixtures/recipes/images/images/resize.server.ts')
    const names = Array.from({ length: 26 }, (_, n) => `grain-${n}.png`)
    const grain = await sharp({ create: { width: 2, height: 2, channels: 3, background: 'red' } })
      .png()
      .toBuffer()
    await Promise.all(names.map((name) => writeFile(original(name), grain)))
    const order: string[] = []
    const make = async (client: string, name: string, width: number): Promise<void> => {
      const made = await resized(
        { original: original(name), folder: join(folder.path, 'made', client, name), width, format: 'webp' },
        client,
        new AbortController().signal,
      ).catch((thrown: Error) => thrown.name)
      order.push(`${client} ${made === 'UnavailableError' ? 'refused' : 'made'}`)
    }
    const greedy = names.flatMap((name) => [320, 640].map((width) => make('greedy', name, width)))
    await Promise.all([...greedy, make('other', 'grain-0.png', 320)])
    expect(order.filter((line) => line === 'greedy refused')).toHaveLength(2)
    expect(order.filter((line) => line === 'greedy made')).toHaveLength(50)
    expect(order.indexOf('other made')).toBeLessThan(5)
    await make('greedy', 'grain-25.png', 640)
    expect(order.at(-1)).toBe('greedy made')
  })

  test('no size that waits for a client with many: each client that asks for it brings its own turn', async () => {
    const { resized } = await import('../../fixtures/recipes/images/images/resize.server.ts')
    const names = Array.from({ length: 20 }, (_, n) => `crowd-${n}.png`)
    const grain = await plain(2, 2).png().toBuffer()
    await Promise.all(names.map((name) => writeFile(original(name), grain)))
    const order: string[] = []
    const make = async (client: string, name: string): Promise<number> => {
      const made = join(folder.path, 'crowd', name)
      const size = { original: original(name), folder: made, width: 320, format: 'webp' } as const
      const path = await resized(size, client, new AbortController().signal)
      order.push(client)
      return (await stat(join(made, path))).ino
    }
    const greedy = names.map((name) => make('greedy', name))
    // Until the first is in progress; the others have their places then.
    while ((await readdir(join(folder.path, 'crowd')).catch(() => [])).length === 0) await delay(1)
    const joined = await make('joined', names.at(-1) ?? '')
    expect(order.length).toBeLessThan(10)
    expect((await Promise.all(greedy)).at(-1)).toBe(joined) // not made again in the other client's turn
  })

  test('an image that nobody waits for any more is not made, whoever has asked first', async () => {
    const { resized } = await import('../../fixtures/recipes/images/images/resize.server.ts')
    const leaving = new AbortController()
    const staying = new AbortController()
    const make = (folderName: string, width: number, { signal }: AbortController): Promise<string> =>
      resized(
        { original: original('mill.jpg'), folder: join(folder.path, folderName), width, format: 'webp' },
        'one',
        signal,
      ).catch((thrown: Error) => thrown.name)
    const left = [320, 640, 1280].map((width) => make('left', width, leaving))
    const joined = make('left', 1280, staying)
    const alone = make('stayed', 320, staying)
    // Until the last has its place in the queue; the first is in progress.
    while ((await readdir(join(folder.path, 'left')).catch(() => [])).length === 0) await delay(1)
    leaving.abort()
    // The one in progress is made: which of the two it is, their folders' system calls decide.
    const ends = (await Promise.all(left)).slice(0, 2)
    expect(ends.filter((end) => end === 'UnavailableError')).toHaveLength(1)
    expect(ends.filter((end) => /(?:320|640)\.webp$/.test(end))).toHaveLength(1)
    expect(await joined).toMatch(/1280\.webp$/)
    expect(await alone).toMatch(/320\.webp$/)
  })

  test('an image that is far higher than wide becomes narrower, and none is higher than 2,560 pixels', async () => {
    await writeFile(original('tower.png'), await plain(1_900, 3_000).png().toBuffer())
    const tower = await sharp((await opened().get('/images/1920/tower.png').expect(200)).body as Buffer).metadata()
    expect([tower.width, tower.height]).toEqual([1_621, 2_560])
    await sharp({ create: { width: 40, height: 4_000, channels: 3, background: 'red' } })
      .png()
      .toFile(original('high.png'))
    const { body } = await opened().get('/images/320/high.png').expect(200)
    const { width, height } = await sharp(body as Buffer).metadata()
    expect([width, height]).toEqual([10, 960])
  })

  test('a file that breaks off, which leaves no half image behind', async () => {
    const whole = await readFile(original('mill.jpg'))
    await writeFile(original('half.jpg'), whole.subarray(0, whole.length / 2))
    const { app, get } = opened()
    await get('/images/320/half.jpg').expect(404)
    const [version = ''] = await readdir(join(app.dataDir, 'images/half.jpg'))
    expect(await readdir(join(app.dataDir, 'images/half.jpg', version))).toEqual([])
  })
})

test('a page offers browsers all widths', async () => {
  const page = () => createElement('img', { ...imageProps('mill.jpg', '100vw'), alt: 'The mill' })
  const app = { routes: { ...routes, '/': { page: () => Promise.resolve({ default: page }) } } }
  const image = (await renderRoute('/', { app })).find('img')
  expect(image?.attributes['src']).toBe('/images/640/mill.jpg')
  const offered = image?.attributes['srcset']?.split(', ')
  expect(offered).toHaveLength(WIDTHS.length)
  const { get } = opened()
  for (const one of offered ?? []) await get(one.split(' ')[0] ?? '').expect(200)
})

const plain = (width: number, height: number) => sharp({ create: { width, height, channels: 4, background: '#0a88' } })

/** A small JPEG that says it has 4,200 by 4,200 pixels. */
async function claimingJpeg(progressive: boolean): Promise<Buffer> {
  const bytes = await plain(16, 16).jpeg({ progressive, chromaSubsampling: '4:4:4' }).toBuffer()
  const head = bytes.indexOf(Buffer.from([0xff, progressive ? 0xc2 : 0xc0]))
  bytes.writeUInt16BE(4_200, head + 5)
  bytes.writeUInt16BE(4_200, head + 7)
  return bytes
}

/** A PNG that says how large it is and has next to nothing in it. */
function claimingPng(width: number, height: number, { depth = 8, isInterlaced = false } = {}): Buffer {
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  head.set([depth, isInterlaced ? 6 : 2, 0, 0, Number(isInterlaced)], 8)
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type), data])
    const [size, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
    size.writeUInt32BE(data.length)
    sum.writeUInt32BE(crc32(body))
    return Buffer.concat([size, body, sum])
  }
  const parts = [chunk('IHDR', head), chunk('IDAT', deflateSync(Buffer.alloc(16))), chunk('IEND', Buffer.alloc(0))]
  return Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), ...parts])
}
