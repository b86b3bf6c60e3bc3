import { describe, expect, it } from 'vitest'
import type { InboxStore } from '../../../src/server/reports/inbox/inbox-store.ts'
import { SpoolFullError } from '../../../src/server/reports/intake/accepted-envelope.ts'
import { inboxPlace, titles } from './inbox-setup.ts'
import { eventEnvelope, sampleEnvelope } from './sample-envelope.ts'

const place = inboxPlace()
const ROOMY = 1_000_000_000

function send(inbox: InboxStore, client: string, message: string, extra = 0): void {
  const body = eventEnvelope('0'.repeat(32), { message, extra: 'x'.repeat(extra) })
  inbox.accept({ ...sampleEnvelope({ client }), body })
}

describe('an inbox that many fill', () => {
  it('keeps what others have sent, however many envelopes one sends', () => {
    const inbox = place.open({ bounds: { envelopes: 10, bytes: ROOMY } })
    for (const message of ['honest one', 'honest two']) send(inbox, 'honest', message)
    for (let at = 0; at < 50; at += 1) send(inbox, 'greedy', 'flood')
    expect(inbox.list(1).envelopes).toBe(10)
    expect(titles(inbox)).toEqual(['flood', 'honest two', 'honest one'])
    send(inbox, 'late', 'late one')
    expect(titles(inbox)).toEqual(['late one', 'flood', 'honest two', 'honest one'])
    expect(inbox.list(1).groups.map(({ count }) => count)).toEqual([1, 7, 1, 1])
  })

  it('keeps what others have sent, however many bytes one sends', () => {
    const inbox = place.open({ bounds: { envelopes: 1_000, bytes: 100_000 } })
    send(inbox, 'honest', 'honest one')
    for (let at = 0; at < 50; at += 1) send(inbox, 'greedy', 'flood', 20_000)
    expect(titles(inbox)).toEqual(['flood', 'honest one'])
    expect(inbox.list(1).groups[0]?.count).toBe(4)
  })

  it('keeps what others have sent, from however many addresses one sends', () => {
    const inbox = place.open({ bounds: { envelopes: 100, bytes: ROOMY } })
    send(inbox, 'honest', 'honest one')
    for (let at = 0; at < 400; at += 1) send(inbox, `greedy ${at % 40}`, 'flood')
    send(inbox, 'late', 'late one')
    expect(inbox.list(1).envelopes).toBe(100)
    expect(titles(inbox)).toEqual(['late one', 'flood', 'honest one'])
  })

  it('gives one client its share, and leaves the rest free', () => {
    const inbox = place.open({ bounds: { envelopes: 10, bytes: ROOMY, client: { envelopes: 4, bytes: 50_000 } } })
    for (const message of ['one', 'two', 'three', 'four', 'five']) send(inbox, 'greedy', message)
    expect(titles(inbox)).toEqual(['five', 'four', 'three', 'two'])
    send(inbox, 'greedy', 'large', 49_000)
    expect(titles(inbox)).toEqual(['large', 'five', 'four', 'three'])
    send(inbox, 'greedy', 'second', 49_000)
    expect(titles(inbox)).toEqual(['second'])
    expect(() => send(inbox, 'greedy', 'larger', 60_000)).toThrow(SpoolFullError)
  })

  it('drives out nobody for one large envelope', () => {
    const inbox = place.open({ bounds: { envelopes: 100, bytes: 10_000 } })
    for (let at = 0; at < 10; at += 1) send(inbox, `honest ${at}`, `honest ${at}`, 800)
    expect(() => send(inbox, 'greedy', 'large', 9_000)).toThrow(SpoolFullError)
    expect(inbox.list(1).envelopes).toBe(10)
  })
})
