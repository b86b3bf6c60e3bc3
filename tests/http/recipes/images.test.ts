import type { ForkOptions } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import request from 'supertest'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createTestApp, renderRoute, type TestDefinition } from 'millrace/testing'
import { createElement } from 'react'
import { fencedBlocks } from '../../unit/app/handbook-samples.ts'
import { claimingPng, jpegWithScans, pngWithTexts } from './hostile-images.ts'
import { makeTempDir, type TempDir } from '../../support/temp-dir.ts'
import { imageProps, WIDTHS } from '../../fixtures/recipes/images/images/widths.ts'

const PROJECT = resolve(import.meta.dirname, '../../..')
const RECIPE = join(PROJECT, 'tests/fixtures/recipes/images')

/** How the processes that decode are started. */
const decoding = vi.hoisted(() => ({
  limits: [] as unknown[],
  timeout: undefined as number | undefined,
  part: undefined as string | undefined,
}))
vi.mock('node:child_process', async (load) => {
  const real = await load<typeof import('node:child_process')>()
  const fork = (script: URL, args: string[], options: ForkOptions) => {
    decoding.limits.push(options.timeout)
    const conversion = { ...(JSON.parse(args[0] ?? '') as object), ...(decoding.part && { part: decoding.part }) }
    return real.fork(script, [JSON.stringify(conversion)], {
      ...options,
      timeout: decoding.timeout ?? options.timeout,
    })
  }
  return { ...real, fork }
})

test('the chapter shows what the tests below run', async () => {
  const blocks = fencedBlocks(await readFile(join(PROJECT, 'docs/image-sizes.md'), 'utf8'))
  const shown = blocks.flatMap(({ code }) => {
    const [line, path] = /^\/\/ src\/app\/(\S+)\n/.exec(code) ?? []
    return line === undefined || path === undefined ? [] : [{ path, code: code.slice(line.length) }]
  })
  expect(shown.map(({ path }) => path)).toHaveLength(4)
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
    const { format, compression } = await sharp(body).metadata()
    expect(`image/${compression === 'av1' ? 'avif' : format}`).toBe(type)
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

  test('a file of some kilobytes whose texts take gigabytes, without taking them from the server', async () => {
    const { app, get } = opened()
    await get('/images/320/mill.jpg')
    await writeFile(original('texts.png'), pngWithTexts(60))
    expect((await stat(original('texts.png'))).size).toBeLessThan(500_000)
    const watch = watchMemory()
    await get('/images/320/texts.png').expect(404)
    const most = watch.end()
    expect(JSON.stringify(app.logs)).toContain('too much memory')
    expect(most).toBeLessThan(150_000_000)
    // The next image has a process of its own.
    await get('/images/1280/mill.jpg').expect(200)
  })

  test('a file of some kilobytes that takes seconds, once for all its sizes that wait', async () => {
    await writeFile(original('scans.jpg'), jpegWithScans(7_000, 882))
    expect((await stat(original('scans.jpg'))).size).toBeLessThan(200_000)
    const { app, get } = opened()
    decoding.timeout = 1_500
    onTestFinished(() => void (decoding.timeout = undefined))
    const types = ['image/avif', 'image/webp', 'image/jpeg']
    await Promise.all(types.map((type) => get('/images/320/scans.jpg', type).expect(404)))
    const said = app.logs.map((line) => JSON.stringify(line)).filter((line) => line.includes('be resized'))
    expect(said.filter((line) => line.includes('memory or time'))).toHaveLength(1)
    expect(said.filter((line) => line.includes('be resized before'))).toHaveLength(2)
    expect(new Set(decoding.limits)).toEqual(new Set([10_000]))
  })

  test('an AVIF, under any name', async () => {
    await writeFile(original('small.jpg'), await plain(20, 20).avif({ effort: 0 }).toBuffer())
    const { app, get } = opened()
    await get('/images/320/small.jpg').expect(404)
    expect(JSON.stringify(app.logs)).toContain('unsupported image format')
    await get('/images/320/small.avif').expect(404)
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

  test('none of which only the result cannot be written: it is made once there is room', async () => {
    await writeFile(original('full.jpg'), await readFile(original('mill.jpg')))
    const { app, get } = opened()
    decoding.part = '/dev/full/part'
    onTestFinished(() => void (decoding.part = undefined))
    await get('/images/320/full.jpg').expect(500)
    decoding.part = undefined
    expect(app.logs.map((line) => JSON.stringify(line)).join('')).toContain('does the disk have room')
    await get('/images/320/full.jpg').expect(200)
  })

  test('more than fifty in progress or waiting for one client; another client does not wait behind them', async () => {
    const { resized } = await import('../../fixtures/recipes/images/images/resize.server.ts')
    const names = Array.from({ length: 26 }, (_, n) => `grain-${n}.png`)
    const grain = await sharp({ create: { width: 2, height: 2, channels: 3, background: 'red' } })
      .png()
      .toBuffer()
    await Promise.all(names.map((name) => writeFile(original(name), grain)))
    const order: string[] = []
    const leaving = new AbortController()
    const make = async (client: string, name: string, width: number, { signal } = leaving): Promise<void> => {
      const made = await resized(
        { original: original(name), folder: join(folder.path, 'made', client, name), width, format: 'webp' },
        client,
        signal,
      ).catch((thrown: Error) => thrown.name)
      order.push(`${client} ${made === 'UnavailableError' ? 'refused' : 'made'}`)
    }
    const greedy = names.flatMap((name) => [320, 640].map((width) => make('greedy', name, width)))
    await make('other', 'grain-0.png', 320)
    expect(order.filter((line) => line === 'greedy refused')).toHaveLength(2)
    expect(order.indexOf('other made')).toBeLessThan(5)
    leaving.abort() // the others are not made
    await Promise.all(greedy)
    await make('greedy', 'grain-25.png', 640, new AbortController())
    expect(order.at(-1)).toBe('greedy made')
  })

  test('no size that waits for a client with many: each client that asks for it brings its own turn', async () => {
    const { resized } = await import('../../fixtures/recipes/images/images/resize.server.ts')
    const names = Array.from({ length: 20 }, (_, n) => `crowd-${n}.png`)
    const grain = await plain(2, 2).png().toBuffer()
    await Promise.all(names.map((name) => writeFile(original(name), grain)))
    const order: string[] = []
    const leaving = new AbortController()
    const make = async (client: string, name: string, { signal } = new AbortController()): Promise<number> => {
      const made = join(folder.path, 'crowd', name)
      const size = { original: original(name), folder: made, width: 320, format: 'webp' } as const
      const names = await resized(size, client, signal)
      order.push(client)
      return (await stat(join(made, ...names))).ino
    }
    const last = names.pop() ?? ''
    const greedy = Promise.allSettled(names.map((name) => make('greedy', name, leaving)))
    const waited = make('greedy', last)
    // Until the first is in progress; the others have their places then.
    while ((await readdir(join(folder.path, 'crowd')).catch(() => [])).length === 0) await delay(1)
    const joined = await make('joined', last)
    expect(order.length).toBeLessThan(10)
    expect(await waited).toBe(joined) // not made again in the other client's turn
    leaving.abort()
    await greedy
  })

  test('who leaves waits no longer, and an image that nobody waits for any more is not made, whoever has asked first', async () => {
    const { resized } = await import('../../fixtures/recipes/images/images/resize.server.ts')
    const leaving = new AbortController()
    const staying = new AbortController()
    const make = (folderName: string, width: number, { signal }: AbortController): Promise<string> =>
      resized(
        { original: original('mill.jpg'), folder: join(folder.path, folderName), width, format: 'webp' },
        'one',
        signal,
      ).then(
        (names) => names.join('/'),
        (thrown: Error) => thrown.name,
      )
    const left = [320, 640, 1280].map((width) => make('left', width, leaving))
    const joined = make('left', 1280, staying)
    const alone = make('stayed', 320, staying)
    // Until the last has its place in the queue; the first is in progress.
    while ((await readdir(join(folder.path, 'left')).catch(() => [])).length === 0) await delay(1)
    leaving.abort()
    const sizes = (): string[] =>
      readdirSync(join(folder.path, 'left'), { recursive: true, encoding: 'utf8' }).filter((name) =>
        name.endsWith('webp'),
      )
    expect(await Promise.all(left)).toEqual(Array(3).fill('AbortError'))
    expect(sizes()).toEqual([])
    expect(await joined).toMatch(/1280\.webp$/)
    expect(await alone).toMatch(/320\.webp$/)
    // The one that was in progress is made: which of the two it is, their folders' system calls decide.
    expect(sizes()).toHaveLength(2)
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

/** The most memory that this process has taken since, in bytes. */
function watchMemory() {
  const before = process.memoryUsage.rss()
  let most = 0
  const look = setInterval(() => (most = Math.max(most, process.memoryUsage.rss() - before)), 10)
  return {
    end: () => {
      clearInterval(look)
      return most
    },
  }
}
