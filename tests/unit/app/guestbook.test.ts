import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { openGuestbook, type Guestbook } from '../../../src/app/lab/guestbook/guestbook.server.ts'
import { makeTempDir, type TempDir } from '../../support/temp-dir.ts'

const NOW = 1_800_000_000_000

let folder: TempDir
let opened: Guestbook[]

beforeEach(async () => {
  folder = await makeTempDir('guestbook')
  opened = []
})
afterEach(async () => {
  vi.useRealTimers()
  for (const guestbook of opened) guestbook.dispose()
  await folder.remove()
})

function open(): Guestbook {
  const guestbook = openGuestbook(folder.path)
  opened.push(guestbook)
  return guestbook
}

function signMany(guestbook: Guestbook, count: number): void {
  for (let at = 1; at <= count; at += 1) {
    guestbook.sign({ name: `name ${at}`, message: `message ${at}`, visitor: 'v' }, NOW + at)
  }
}

describe('the guestbook', () => {
  it('shows the newest first, twenty on a page, and the last page for all behind it', () => {
    const guestbook = open()
    expect(guestbook.read(3)).toEqual({ entries: [], page: 1, pages: 1, total: 0, revision: 0 })
    signMany(guestbook, 41)
    const names = (page: number): string[] => guestbook.read(page).entries.map(({ name }) => name)
    expect(names(1)).toHaveLength(20)
    expect(names(1)[0]).toBe('name 41')
    expect(names(2)[0]).toBe('name 21')
    expect(names(3)).toEqual(['name 1'])
    expect(guestbook.read(99)).toMatchObject({ page: 3, pages: 3, total: 41 })
  })

  it('lets go of one entry: of its author, within its first minute', () => {
    const guestbook = open()
    signMany(guestbook, 2)
    const [newer, older] = guestbook.read(1).entries.map(({ id }) => id) as [number, number]
    expect(guestbook.remove(newer, 'somebody else', NOW + 3)).toBe(false)
    expect(guestbook.remove(older, 'v', NOW + 1 + 60_000)).toBe(false)
    expect(guestbook.read(1).total).toBe(2)
    expect(guestbook.remove(older, 'v', NOW + 60_000)).toBe(true)
    expect(guestbook.remove(older, 'v', NOW + 60_000)).toBe(false)
    expect(guestbook.read(1).entries.map(({ id }) => id)).toEqual([newer])
  })

  it('does not give the number of a deleted entry to the next one', () => {
    const guestbook = open()
    signMany(guestbook, 1)
    const id = guestbook.read(1).entries[0]?.id ?? 0
    guestbook.remove(id, 'v', NOW)
    signMany(guestbook, 1)
    expect(guestbook.read(1).entries[0]?.id).toBeGreaterThan(id)
  })

  it('forgets the oldest entries rather than growing without end', { timeout: 60_000 }, () => {
    const guestbook = open()
    signMany(guestbook, 5_003)
    expect(guestbook.read(1).total).toBe(5_000)
    expect(guestbook.read(250).entries.at(-1)?.name).toBe('name 4')
  })

  it('is there after a restart', () => {
    const before = open()
    signMany(before, 1)
    before.dispose()
    expect(open().read(1)).toMatchObject({ total: 1, revision: 1 })
  })

  it('tells of changes, and not of what changed nothing', () => {
    const guestbook = open()
    const heard = vi.fn<() => void>()
    const forget = guestbook.onChange(heard)
    signMany(guestbook, 1)
    guestbook.remove(999, 'v', NOW)
    expect(heard).toHaveBeenCalledTimes(1)
    forget()
    signMany(guestbook, 1)
    expect(heard).toHaveBeenCalledTimes(1)
  })

  it('tells of changes by another process within a second, and looks for none when nobody listens', () => {
    vi.useFakeTimers()
    const [guestbook, other] = [open(), open()]
    const heard = vi.fn<() => void>()
    const forget = guestbook.onChange(heard)
    signMany(other, 2)
    vi.advanceTimersByTime(1_000)
    expect(heard).toHaveBeenCalledTimes(1)
    vi.advanceTimersByTime(5_000)
    expect(heard).toHaveBeenCalledTimes(1)
    forget()
    expect(vi.getTimerCount()).toBe(0)
  })
})
