/**
 * Draws `og:image`: name, claim and three figures of the home page. The file contains its text as a PNG comment, so that
 * a test without a browser can tell whether it is still true.
 */
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { crc32 } from 'node:zlib'
import type { Browser } from 'playwright-core'
import { readFigures } from '../../src/app/home/published-figures.server.ts'
import { CLAIM } from '../../src/app/site/open-graph.ts'

const PROJECT = resolve(import.meta.dirname, '../..')
const SIZE = { width: 1_200, height: 630 }
const LINES = 11
const MIDDLE = 524 // px from the top
/** Distance of lines at the edges and in the middle. */
const APART = { wide: 17, narrow: 4.5 }
const KEYWORD = 'Description'
const SIGNATURE_BYTES = 8
const CHUNK_FRAME_BYTES = 12 // length, type and checksum

/** The file. */
export const OG_IMAGE = resolve(PROJECT, 'src/app/site/og-image.png')

/** What the picture says. */
interface OgText {
  readonly claim: string
  readonly figures: readonly (readonly [value: string, title: string, beside: string])[]
  readonly date: string
}

/** What it has to say today. */
export async function ogText(): Promise<OgText> {
  const { figures, date } = readFigures(await readFile(resolve(PROJECT, 'docs/performance.md'), 'utf8'))
  return {
    claim: `${CLAIM}.`,
    figures: figures.slice(0, 3).map(({ value, title, beside }) => [value, title, `vs. ${beside}`]),
    date,
  }
}

/** The text that a file was drawn with; `''` if it contains none. */
export function textInPng(png: Buffer): string {
  for (let at = SIGNATURE_BYTES; at < png.length;) {
    const length = png.readUInt32BE(at)
    const [keyword, text = ''] = png.toString('latin1', at + 8, at + 8 + length).split('\0')
    if (png.toString('latin1', at + 4, at + 8) === 'tEXt' && keyword === KEYWORD) return text
    at += length + CHUNK_FRAME_BYTES
  }
  return ''
}

/** The text as it is in the file: Latin-1. */
export function writtenText(text: OgText): string {
  return [text.claim, ...text.figures.flat(), text.date].join('\n')
}

/** Draws the picture. */
export async function drawOgImage(browser: Browser, text: OgText): Promise<Buffer> {
  const font = await readFile(resolve(PROJECT, 'src/app/site/fonts/instrument-sans.woff2'))
  const page = await browser.newPage({ viewport: SIZE })
  try {
    await page.setContent(markup(text, font.toString('base64')))
    await page.evaluate(() => document.fonts.ready)
    return withText(await page.screenshot(), writtenText(text))
  } finally {
    await page.close()
  }
}

/** Puts the text between the header, which has a fixed length, and what follows. */
function withText(png: Buffer, text: string): Buffer {
  const header = SIGNATURE_BYTES + CHUNK_FRAME_BYTES + 13
  const body = Buffer.from(`tEXt${KEYWORD}\0${text}`, 'latin1')
  const chunk = Buffer.alloc(body.length + 8)
  chunk.writeUInt32BE(body.length - 4)
  body.copy(chunk, 4)
  chunk.writeUInt32BE(crc32(body), body.length + 4)
  return Buffer.concat([png.subarray(0, header), chunk, png.subarray(header)])
}

function markup({ claim, figures, date }: OgText, font: string): string {
  const lines = Array.from({ length: LINES }, (_, at) => {
    const from = at - (LINES - 1) / 2
    const [wide, narrow] = [MIDDLE + from * APART.wide, MIDDLE + from * APART.narrow]
    return `M0 ${wide}C300 ${wide} 400 ${narrow} 600 ${narrow}S900 ${wide} 1200 ${wide}`
  })
  const cells = figures.map(([value, title, beside]) => `<div><b>${value}</b><span>${title}<br>${beside}</span></div>`)
  return `<!doctype html><meta charset="utf-8"><style>
@font-face { font-family: Text; font-weight: 400 700; src: url(data:font/woff2;base64,${font}) }
body { margin: 0; background: #f7f5ef; color: #16211f; font: 500 20px/1.35 Text }
svg { position: absolute; inset: 0; fill: none; stroke: #0b6275; stroke-width: 1.5 }
svg.mark { inset: 56px auto auto 70px; stroke-width: 2.6; stroke-linecap: round }
main { position: absolute; inset: 54px 72px auto }
p { margin: 0 0 0 64px; font: 600 38px/52px Text; letter-spacing: -.02em }
h1 { margin: 26px 0 22px; width: 1000px; font: 600 66px/1.14 Text; letter-spacing: -.025em; text-wrap: balance }
section { display: grid; grid-template-columns: repeat(3, 1fr); gap: 28px }
b { display: block; color: #0b6275; font: 600 42px/1.2 Text }
span, small { color: #4c585a }
small { position: absolute; right: 72px; top: 68px; font-size: 21px }
</style><svg width="1200" height="630"><path d="${lines.join('')}"/></svg>
<svg class="mark" width="48" height="48" viewBox="0 0 32 32"><path d="M2 5c9 0 10 7 16 7h12M2 16h28M2 27c9 0 10-7 16-7h12"/></svg>
<main><p>Millrace</p><h1>${claim}</h1><section>${cells.join('')}</section></main>
<small>Measured ${date}</small>`
}
