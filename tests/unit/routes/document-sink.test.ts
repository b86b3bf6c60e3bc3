import { describe, expect, test } from 'vitest'
import type { BodyStream } from '../../../src/server/request/answer/body-stream.ts'
import { DocumentShapeError } from '../../../src/server/routes/render/document-markup.ts'
import { DocumentSink } from '../../../src/server/routes/render/document-sink.ts'

/** A sink over a body that keeps what it is given. */
function sinkOver(options: { readonly addsLater?: boolean } = {}) {
  const sent: string[] = []
  const state = { ended: 0, told: 0, destroyed: 0, room: true, drain: (): void => undefined }
  const body: BodyStream = {
    hasCapacity: () => state.room,
    write: (chunk) => void sent.push(chunk.toString()),
    end: () => void (state.ended += 1),
    destroy: () => void (state.destroyed += 1),
    onDrain: (listener) => void (state.drain = listener),
    tellUnread: () => undefined,
  }
  const ended = (): void => void (state.told += 1)
  const additions = { head: '<HEAD>', tail: () => '<TAIL>', before: () => '', ended }
  const sink = new DocumentSink(body, additions, options.addsLater ?? false)
  return { sink, sent, state, html: () => sent.join('') }
}

const SHELL = '<!DOCTYPE html><html lang="en"><head><title>T</title></head><body><p>shell</p>'
const SHELL_SENT = '<!DOCTYPE html><html lang="en"><head><HEAD><title>T</title></head><body><p>shell</p><TAIL>'
const END = '</body></html>'

describe('what the runtime adds', () => {
  test('stands at the start of the head and behind the shell, in one chunk with it', () => {
    const { sink, sent } = sinkOver()
    sink.write(SHELL)
    expect(sent).toEqual([])
    sink.flush()
    expect(sent).toEqual([SHELL_SENT])
  })

  test('is the same however React cuts the shell', () => {
    const { sink, sent } = sinkOver()
    for (const character of SHELL) sink.write(Buffer.from(character))
    sink.flush()
    expect(sent).toEqual([SHELL_SENT])
  })

  test('waits for the shell, then goes out at once, between two flushes', () => {
    const { sink, sent } = sinkOver({ addsLater: true })
    sink.add('<A>')
    sink.add('<B>')
    expect(sent).toEqual([])
    sink.write(SHELL)
    sink.flush()
    sink.add('<C>')
    sink.write('<i>hole</i>')
    sink.add('<D>')
    sink.flush()
    expect(sent).toEqual([`${SHELL_SENT}<A><B>`, '<C>', '<D>', '<i>hole</i>'])
  })

  test('is not put into content that looks like a head', () => {
    const { sink, html } = sinkOver()
    sink.write('<html><head></head><body>&lt;head><head>')
    sink.end()
    expect(html()).toBe(`<html><head><HEAD></head><body>&lt;head><head><TAIL>${END}`)
  })

  test('has no place in what is no document', () => {
    const { sink } = sinkOver()
    sink.write('<div></div>')
    expect(() => sink.flush()).toThrow(DocumentShapeError)
  })
})

describe('the end of the document', () => {
  test.for([true, false])('is held back until React and the additions are done (React first: %s)', (reactFirst) => {
    const { sink, html, state } = sinkOver({ addsLater: true })
    sink.write(SHELL + END)
    sink.flush()
    expect(html()).toBe(SHELL_SENT)
    if (reactFirst) sink.end()
    else sink.endAdding()
    expect(html()).toBe(SHELL_SENT)
    expect(state.ended).toBe(0)
    if (reactFirst) {
      sink.add('<LATE>')
      sink.endAdding()
    } else sink.end()
    expect(html()).toBe(`${SHELL_SENT}${reactFirst ? '<LATE>' : ''}${END}`)
    expect(state.ended).toBe(1)
  })

  test('comes once, though React writes it with the last hole', () => {
    const { sink, html, state } = sinkOver()
    sink.write(SHELL)
    sink.flush()
    sink.write('<i>hole</i>')
    sink.write(END)
    sink.flush()
    sink.write(END)
    sink.flush()
    sink.end()
    expect(html()).toBe(`${SHELL_SENT}<i>hole</i>${END}`)
    expect(state.ended).toBe(1)
  })

  test('is written for what was never flushed, too', () => {
    const { sink, html } = sinkOver()
    sink.write(SHELL + END)
    sink.end()
    expect(html()).toBe(SHELL_SENT + END)
  })
})

describe('a client', () => {
  test('that is slow is waited for', () => {
    const { sink, state } = sinkOver()
    expect(sink.write(SHELL)).toBe(true)
    state.room = false
    expect(sink.write('more')).toBe(false)
    let drained = 0
    sink.on('drain', () => (drained += 1))
    state.drain()
    expect(drained).toBe(1)
  })

  test('that is gone gets nothing more, and no end that would make the document look whole', () => {
    const { sink, html, state } = sinkOver({ addsLater: true })
    sink.write(SHELL)
    sink.flush()
    sink.destroy()
    sink.destroy()
    sink.write('<i>hole</i>')
    sink.flush()
    sink.add('<A>')
    sink.end()
    sink.endAdding()
    expect(html()).toBe(SHELL_SENT)
    expect(state).toMatchObject({ destroyed: 1, ended: 0 })
  })
})
