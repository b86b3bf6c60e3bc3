import { untilAlive } from 'millrace/testing'
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { routerTest as browserTest } from '../support/router-app.ts'
import { clickLink, heading, recordData, setVisible } from '../support/router-page.ts'

const readAt = (page: Page): Promise<string | null> => page.getByTestId('read-at').textContent()

async function openMill(page: Page, id: number): Promise<void> {
  await page.goto(`/mills/${id}`)
  await untilAlive(page)
}

describe('two tabs of the site', () => {
  browserTest('what one drops, the other asks for again, and nothing else', async ({ open }) => {
    const one = await open()
    const other = await one.context().newPage()
    const third = await one.context().newPage()
    await openMill(one, 1)
    await openMill(other, 1)
    await openMill(third, 2)
    const [before, elsewhere] = [await readAt(other), await readAt(third)]
    const [asked, askedElsewhere] = [recordData(other), recordData(third)]
    await one.getByRole('button', { name: 'Read again' }).click()
    await expect.poll(() => readAt(other)).not.toBe(before)
    await expect.poll(() => readAt(one)).not.toBe(before)
    expect(asked).toEqual(['/mills/1'])
    expect(askedElsewhere).toEqual([])
    expect(await readAt(third)).toBe(elsewhere)
  })

  browserTest('a page that the other has left is asked for again when it is gone back to', async ({ open }) => {
    const one = await open()
    const other = await one.context().newPage()
    await openMill(one, 1)
    await openMill(other, 1)
    await clickLink(other, '/')
    await heading(other, 'Home')
    const asked = recordData(other)
    const before = await readAt(one)
    await one.getByRole('button', { name: 'Read again' }).click()
    await expect.poll(() => readAt(one)).not.toBe(before)
    await other.goBack()
    await heading(other, 'Mill 1')
    expect(asked).toEqual(['/mills/1'])
  })

  browserTest('one that nobody looks at asks when it is looked at', async ({ open }) => {
    const one = await open()
    const other = await one.context().newPage()
    await openMill(one, 1)
    await openMill(other, 1)
    const [before, beforeInOne] = [await readAt(other), await readAt(one)]
    await setVisible(other, false)
    const asked = recordData(other)
    await other.evaluate(() => {
      const channel = new BroadcastChannel('millrace')
      channel.addEventListener('message', () => document.documentElement.toggleAttribute('data-told', true))
    })
    await one.getByRole('button', { name: 'Read again' }).click()
    await expect.poll(() => readAt(one)).not.toBe(beforeInOne)
    await other.locator('html[data-told]').waitFor()
    expect(asked).toEqual([])
    await setVisible(other, true)
    await expect.poll(() => readAt(other)).not.toBe(before)
    expect(asked).toEqual(['/mills/1'])
  })
})
