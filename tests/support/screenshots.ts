/**
 * Pictures of pages, compared with committed ones. A reference is the picture at a quarter of its size, as WebP: 10 kB
 * that show text as grey lines, so that a moved line or another colour counts, and the smoothing of letters does not.
 */
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, relative, resolve } from 'node:path'
import type { Browser, Page } from 'playwright-core'

const PROJECT = resolve(import.meta.dirname, '../..')
const SCALE = 0.25
const QUALITY = 0.8 // of WebP
const LONGEST = 2_000 // px of a page from its top
/** Difference of one channel, of 255, from which a pixel counts: the loss of WebP at edges is below. */
const VISIBLE = 40
/** Share of differing pixels that passes: some letters. */
const MOST_DIFFERENT = 0.002

/** What differs each time: hidden, but not removed, so that nothing moves. */
const STEADY = `
time, [data-testid='digest'] { visibility: hidden !important; }
*, ::before, ::after { animation: none !important; transition: none !important; caret-color: transparent !important; }`

/** Has pages wait for their fonts: on a slow machine, the browser would show some of them with other ones. */
export async function waitForFonts(page: Page): Promise<void> {
  await page.route('**/*.css', async (route) => {
    const response = await route.fetch()
    const body = (await response.text()).replaceAll(/font-display:\s*optional/g, 'font-display:block')
    await route.fulfill({ response, body })
  })
}

/** Takes the picture of a page, down to `LONGEST`. */
export async function takePicture(page: Page, hidden = ''): Promise<Buffer> {
  await page.evaluate(() => document.fonts.ready)
  const { width = 0 } = page.viewportSize() ?? {}
  const height = await page.evaluate(() => document.documentElement.scrollHeight)
  const clip = { x: 0, y: 0, width, height: Math.min(height, LONGEST) }
  return page.screenshot({ fullPage: true, clip, animations: 'disabled', style: STEADY + hidden })
}

/** What a comparison found; `undefined` where the pictures are the same. */
export type PictureFault = string | undefined

/**
 * Compares a picture with its reference.
 * @param reference path of the reference.
 * @param renews writes the reference instead.
 */
export async function comparePicture(
  browser: Browser,
  picture: Buffer,
  { reference, renews }: { readonly reference: string; readonly renews: boolean },
): Promise<PictureFault> {
  const page = await browser.newPage()
  try {
    const small = await page.evaluate(shrink, { picture: dataUrl('png', picture), scale: SCALE, quality: QUALITY })
    if (renews) {
      await mkdir(dirname(reference), { recursive: true })
      await writeFile(reference, Buffer.from(small.slice(small.indexOf(',') + 1), 'base64'))
      return undefined
    }
    const path = relative(PROJECT, reference)
    if (!existsSync(reference)) return `${path} is missing`
    const known = dataUrl('webp', await readFile(reference))
    const { share, size } = await page.evaluate(compare, { small, known, visible: VISIBLE })
    if (size !== undefined) return `${path} has another size: ${size}`
    return share > MOST_DIFFERENT ? `${path}: ${(share * 100).toFixed(2)} % of its pixels differ` : undefined
  } finally {
    await page.close()
  }
}

function dataUrl(type: string, bytes: Buffer): string {
  return `data:image/${type};base64,${bytes.toString('base64')}`
}

/** Runs in a page. */
async function shrink(given: {
  readonly picture: string
  readonly scale: number
  readonly quality: number
}): Promise<string> {
  const image = new Image()
  image.src = given.picture
  await image.decode()
  const canvas = document.createElement('canvas')
  canvas.width = Math.round(image.naturalWidth * given.scale)
  canvas.height = Math.round(image.naturalHeight * given.scale)
  const context = canvas.getContext('2d')
  if (context === null) throw new Error('There is no canvas')
  context.imageSmoothingQuality = 'high'
  context.drawImage(image, 0, 0, canvas.width, canvas.height)
  return canvas.toDataURL('image/webp', given.quality)
}

/** Runs in a page. Both pictures have been through WebP. */
async function compare(given: {
  readonly small: string
  readonly known: string
  readonly visible: number
}): Promise<{ readonly share: number; readonly size: string | undefined }> {
  const [one, other] = await Promise.all(
    [given.small, given.known].map(async (source) => {
      const image = new Image()
      image.src = source
      await image.decode()
      const { naturalWidth: width, naturalHeight: height } = image
      const context = new OffscreenCanvas(width, height).getContext('2d')
      if (context === null) throw new Error('There is no canvas')
      context.drawImage(image, 0, 0)
      return context.getImageData(0, 0, width, height)
    }),
  )
  if (one === undefined || other === undefined) throw new Error('A picture is missing')
  if (one.width !== other.width || Math.abs(one.height - other.height) > 1)
    return { share: 1, size: `${one.width} × ${one.height} instead of ${other.width} × ${other.height}` }
  const length = Math.min(one.data.length, other.data.length)
  let different = 0
  for (let at = 0; at < length; at += 4)
    if (
      [0, 1, 2].some(
        (channel) => Math.abs((one.data[at + channel] ?? 0) - (other.data[at + channel] ?? 0)) > given.visible,
      )
    )
      different += 1
  return { share: different / (length / 4), size: undefined }
}
