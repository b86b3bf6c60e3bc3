/** Input of a former user that is not in the router's hands: what browsers restore, what they undo, what components hold. */
import { untilAlive } from 'millrace/testing'
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { statusComplaint } from '../support/page-complaints.ts'
import { heading, hold } from '../support/router-page.ts'
import {
  backAndAgain,
  browserTest,
  EMPTY,
  loadedAgain,
  openComment,
  otherTab,
  REFUSED,
  signIn,
  signOutElsewhere,
  texts,
  visit,
  write,
  WRITTEN,
} from '../support/typed-page.ts'

/** Whose the input on the page's history entry is. */
const ownerOf = (page: Page) => page.evaluate(() => (history.state as Record<string, unknown>)['millrace:owner'])

describe('the next user does not get what the browser restores:', () => {
  browserTest('typed text, in a document that it loads again on Back', async ({ open }) => {
    const page = await open(REFUSED)
    // As for documents with `no-store`: requests that are routed take no documents from the cache.
    await page.route('**/stored/comment', (route) => route.continue())
    await openComment(page, '/stored/comment', 'ann')
    await visit(page, '/stored/comment')
    await write(page)
    await visit(page, '/stored/public')
    await page.goBack()
    await untilAlive(page)
    await expect.poll(() => texts(page)).toEqual(WRITTEN)
    // What was typed before this document was alive counts, too.
    await page.evaluate(() => sessionStorage.removeItem('millrace:drafts'))
    await visit(page, '/stored/public')
    const other = await signOutElsewhere(page, '/stored/comment')
    await signIn(other, 'bob')
    await heading(other, 'Comment of bob')
    await backAndAgain(page)
    await heading(page, 'Comment of bob')
    await expect.poll(() => texts(page)).toEqual(EMPTY)
    await expect.poll(() => page.getByTestId('first').textContent()).toBe('')
    // What was taken back is not taken from what comes next.
    await page.getByLabel('note').fill('mine')
    await page.getByRole('button', { name: 'Like' }).click()
    await page.getByTestId('likes').filter({ hasText: 'bob' }).waitFor()
    expect(await page.getByLabel('note').inputValue()).toBe('mine')
  })

  browserTest('what was chosen, in any document with which the entry comes back', async ({ open }) => {
    const page = await open({ allow: [...REFUSED.allow, statusComplaint(404)] })
    await page.route('**/peek', (route) => route.continue())
    await openComment(page, '/stored/comment', 'ann')
    await visit(page, '/peek')
    const answers = () =>
      page.evaluate(() => {
        const form = document.querySelector<HTMLFormElement>('#answers')
        return new URLSearchParams(
          [...new FormData(form ?? undefined)].map(([name, value]) => [name, String(value)]),
        ).toString()
      })
    const untouched = await answers()
    await page.locator('[name=ill]').check()
    await page.locator('[name=sure]').check()
    await page.locator('[name=diet][value=vegan]').check()
    await page.locator('[name=way][value=phone]').check()
    await page.locator('[name=state]').selectOption('sick')
    await page.locator('[name=many]').selectOption(['y'])
    expect(await answers()).not.toBe(untouched)
    const ofAnn = await ownerOf(page)
    await visit(page, '/stored/public')
    const other = await signOutElsewhere(page, '/stored/comment')
    await signIn(other, 'bob')
    await heading(other, 'Comment of bob')
    // Nor is it in the storage of a tab that is a duplicate; and a document may never have loaded to its end.
    await page.evaluate(() => sessionStorage.clear())
    await page.route('**/never.png', () => undefined)
    await page.addInitScript(() => {
      new Image().src = '/never.png'
      // What a test evaluates counts as touched by the visitor.
      Object.defineProperty(navigator.userActivation, 'hasBeenActive', { value: false, configurable: true })
    })
    await backAndAgain(page)
    await heading(page, 'Peek')
    await expect.poll(() => page.evaluate(() => document.readyState)).toBe('interactive')
    await expect.poll(answers).toBe(untouched)
    // Firefox restores a tab that was closed later, with events.
    await page.evaluate((owner) => {
      history.replaceState({ ...(history.state as object), 'millrace:owner': owner }, '')
      location.reload()
    }, ofAnn)
    await page.waitForFunction(() =>
      performance.getEntriesByType('resource').some(({ name }) => /draft-keeper/.test(name)),
    )
    await expect.poll(() => ownerOf(page)).not.toBe(ofAnn)
    const again = page.waitForEvent('domcontentloaded')
    await page.locator('[name=state]').focus()
    await page.keyboard.press('s')
    await again
    await loadedAgain(page)
    await expect.poll(answers).toBe(untouched)
    // What components set themselves is not taken from them.
    const ofScript = await page.evaluate(() => {
      const list = document.querySelector<HTMLSelectElement>('[name=state]')
      if (list === null) throw new Error('no such control')
      list.value = 'sick'
      for (const type of ['input', 'change']) list.dispatchEvent(new Event(type, { bubbles: true }))
      return list.value
    })
    expect(ofScript).toBe('sick')
    await page.evaluate(() => Reflect.deleteProperty(navigator.userActivation, 'hasBeenActive'))
    await page.locator('[name=state]').selectOption('sick')
    await page.locator('[name=ill]').check()
    expect(await answers()).toMatch(/state=sick.*ill=|ill=.*state=sick/)
  })
})

browserTest('what components set by themselves is not what the browser has restored', async ({ open }) => {
  const page = await open({ allow: [...REFUSED.allow, statusComplaint(404)] })
  await openComment(page, '/stored/comment', 'ann')
  await visit(page, '/peek')
  await page.locator('[name=ill]').check()
  await visit(page, '/stored/public')
  const other = await signOutElsewhere(page, '/stored/comment')
  await signIn(other, 'bob')
  await heading(other, 'Comment of bob')
  // As an effect that reads what the visitor has chosen before.
  await page.addInitScript(() => {
    new MutationObserver(() => {
      const box = document.querySelector<HTMLInputElement>('[name=sure]')
      if (box !== null) box.checked = true
    }).observe(document, { childList: true, subtree: true })
  })
  let documents = 0
  page.on('domcontentloaded', () => (documents += 1))
  await backAndAgain(page)
  await heading(page, 'Peek')
  await page.waitForTimeout(2_000)
  expect([documents, await page.evaluate(() => document.body.inert)]).toEqual([2, false])
  expect(await page.locator('[name=sure]').isChecked()).toBe(true)
})

/** What a component might hold: an element that React does not know. */
const addFree = (page: Page) =>
  page.evaluate(() => {
    document.querySelector('h1')?.insertAdjacentHTML('afterend', '<p contenteditable id="free"></p>')
  })

for (const next of ['nobody', 'bob']) {
  browserTest(
    `a page on which a user has typed starts again for ${next}, so that nothing brings it back`,
    async ({ open }) => {
      const page = await open(REFUSED)
      await openComment(page, '/stored/public', 'ann')
      await write(page)
      await addFree(page)
      await page.locator('#free').fill('of ann')
      const other = await signOutElsewhere(page, '/stored/public')
      if (next === 'bob') {
        await visit(other, '/stored/sign-in?to=public')
        await signIn(other, 'bob')
        await heading(other, 'Comment of bob')
      }
      await page.locator('#free').waitFor({ state: 'detached' })
      await heading(page, `Comment of ${next}`)
      await page.getByLabel('about').fill('mine')
      for (const keys of ['Control+z', 'Control+z', 'Control+Shift+z', 'Control+Shift+z'])
        await page.keyboard.press(keys)
      expect(await texts(page)).toEqual(['', '', 'mine', ''])
    },
  )
}

browserTest('components of a page start again, too, if nobody has typed', async ({ open }) => {
  const page = await open(REFUSED)
  await openComment(page, '/stored/public', 'ann')
  await addFree(page)
  await signOutElsewhere(page, '/stored/public')
  await heading(page, 'Comment of nobody')
  await page.locator('#free').waitFor({ state: 'detached' })
})

describe('until the page of the next user has come', () => {
  const search = (page: Page) => page.getByTestId('search').textContent()
  const mirrored = (page: Page) => page.locator('main output').textContent()
  const isLocked = (page: Page) => page.evaluate(() => document.body.inert)

  async function openWritten(page: Page) {
    await openComment(page, '/stored/public', 'ann')
    await page.getByLabel('find').fill('a secret search')
    await page.getByLabel('exact').click()
    await page.getByLabel('picture').setInputFiles({ name: 'ann.png', mimeType: 'image/png', buffer: Buffer.from('x') })
    expect(await search(page)).toBe('a secret search true')
    await write(page)
    const held = await hold(page, /_m\/data\/stored\/public/)
    const other = await signOutElsewhere(page, '/stored/public')
    await held.asked
    await expect.poll(() => texts(page)).toEqual(EMPTY)
    expect([await mirrored(page), await isLocked(page)]).toEqual(['half a thought', true])
    return { held, other }
  }

  browserTest('nothing can be sent that components hold, and then it is gone', async ({ open }) => {
    const page = await open(REFUSED)
    const { held } = await openWritten(page)
    await page.getByLabel('text').focus()
    await page.keyboard.type('x')
    expect(await texts(page)).toEqual(EMPTY)
    held.release()
    await heading(page, 'Comment of nobody')
    await expect.poll(() => search(page)).toBe(' false')
    expect(await page.getByLabel('exact').isChecked()).toBe(false)
    expect(await page.getByLabel('picture').inputValue()).toBe('')
    expect([await mirrored(page), await isLocked(page)]).toEqual(['', false])
  })

  browserTest('its code hears nothing of a visitor: keys, a modal dialog, the focus that is lost', async ({ open }) => {
    const page = await open(REFUSED)
    await openComment(page, '/stored/public', 'ann')
    await page.evaluate(() => {
      const heard: string[] = []
      Object.assign(window, { heard })
      const dialog = document.createElement('dialog')
      dialog.innerHTML = '<input id="inside"><button id="send">Send</button>'
      document.querySelector('main')?.append(dialog)
      dialog.showModal()
      dialog.querySelector('#inside')?.addEventListener('blur', () => heard.push('blur'))
      for (const type of ['keydown', 'click', 'input', 'focusout']) {
        window.addEventListener(type, () => heard.push(type), true)
        document.addEventListener(type, () => heard.push(type))
      }
    })
    const heard = () => page.evaluate(() => (window as Window & { heard?: string[] }).heard)
    await page.locator('#inside').fill('of ann')
    expect(await heard()).toContain('input')
    const held = await hold(page, /_m\/data\/stored\/public/)
    await signOutElsewhere(page, '/stored/public')
    await held.asked
    await expect.poll(() => isLocked(page)).toBe(true)
    await page.evaluate(() => (window as Window & { heard?: string[] }).heard?.splice(0))
    await page.bringToFront()
    await page.locator('#send').click({ force: true })
    await page.locator('#inside').focus()
    await page.keyboard.press('x')
    await page.keyboard.press('Control+Enter')
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur())
    expect([await heard(), await page.locator('#inside').inputValue()]).toEqual([[], ''])
    held.release()
    await heading(page, 'Comment of nobody')
    expect(await page.locator('dialog').count()).toBe(0)
  })

  browserTest('a user who is back has it as it was', async ({ open }) => {
    const page = await open(REFUSED)
    const { held, other } = await openWritten(page)
    await visit(other, '/stored/sign-in?to=public')
    await signIn(other, 'ann')
    await expect.poll(() => texts(page)).toEqual(WRITTEN)
    expect([await search(page), await mirrored(page)]).toEqual(['a secret search true', 'half a thought'])
    expect([await page.getByLabel('exact').isChecked(), await isLocked(page)]).toEqual([true, false])
    held.release()
    await heading(page, 'Comment of ann')
    expect(await texts(page)).toEqual(WRITTEN)
  })
})

browserTest('a page that opens no session, opened last, hears of documents for another user', async ({ open }) => {
  const page = await open(REFUSED)
  const other = await page.context().newPage()
  await openComment(other, '/stored/comment', 'ann')
  await visit(page, '/wizard/1')
  await page.getByLabel('late').waitFor()
  await page.getByLabel('message').fill('half a thought')
  await other.evaluate(() => fetch('/switch/bob', { method: 'POST' }))
  await visit(other, '/stored/comment')
  await heading(other, 'Comment of bob')
  await expect.poll(() => page.getByLabel('message').inputValue()).toBe('')
})

browserTest('the fields of a page are emptied with the end of a session that names no user', async ({ open }) => {
  const page = await open(REFUSED)
  await openComment(page, '/sealed/public', 'ann')
  await write(page)
  const other = await signOutElsewhere(page, '/sealed/public')
  await heading(page, 'Comment of nobody')
  expect(await texts(page)).toEqual(EMPTY)
  await visit(other, '/sealed/sign-in?to=public')
  await signIn(other, 'bob')
  await heading(page, 'Comment of bob')
  expect(await texts(page)).toEqual(EMPTY)
})

browserTest('a call that was not sent when its user has left is not sent any more', async ({ open }) => {
  const page = await open({ allow: [...REFUSED.allow, /ERR_INTERNET_DISCONNECTED/] })
  await openComment(page, '/stored/public', 'ann')
  await write(page)
  const isCallOrLook = /_action=|build\.json/
  await page.route(isCallOrLook, (route) => route.abort('internetdisconnected'))
  await page.getByRole('button', { name: 'Send' }).click()
  const bar = page.getByRole('status').filter({ hasText: 'was not sent' })
  await bar.waitFor()
  const other = await signOutElsewhere(page, '/stored/public')
  await heading(page, 'Comment of nobody')
  expect([await texts(page), await bar.count()]).toEqual([EMPTY, 0])
  // Its user has the text, and sends it.
  await signIn(await otherTab(page, '/stored/sign-in?to=public'), 'ann')
  await other.close()
  await heading(page, 'Comment of ann')
  await expect.poll(() => texts(page)).toEqual(WRITTEN)
})

browserTest('what the next user types stays when a slow picture has loaded', async ({ open }) => {
  const page = await open({ allow: [...REFUSED.allow, statusComplaint(404)] })
  await openComment(page, '/stored/public', 'ann')
  const picture = await hold(page, /slow\.png/)
  await page.addInitScript(() => (new Image().src = '/slow.png'))
  await page.goto('/stored/public', { waitUntil: 'domcontentloaded' })
  await untilAlive(page)
  await signOutElsewhere(page, '/stored/public')
  await heading(page, 'Comment of nobody')
  await write(page)
  const shown = page.evaluate(() => new Promise((done) => addEventListener('pageshow', () => setTimeout(done, 500))))
  picture.release()
  await shown
  expect(await texts(page)).toEqual(['half a thought', 'a secret note', '', 'hunter2'])
})

browserTest('a field that shows its default in other characters has no input of its own', async ({ open }) => {
  const page = await open(REFUSED)
  await openComment(page, '/stored/comment', 'ann')
  const saved = (one: Page) => one.getByTestId('saved')
  const change = async (one: Page, plan: string) => {
    const former = await saved(one).innerText()
    await one.getByLabel('plan').selectOption(plan)
    await expect.poll(() => saved(one).innerText()).not.toBe(former)
  }
  await visit(page, '/profile')
  await change(page, 'none')
  await change(page, 'gold')
  await visit(page, '/profile')
  expect(await page.getByLabel('log').inputValue()).toContain('\n')
  await page.getByRole('link', { name: 'Home' }).click()
  await page.getByRole('heading', { name: 'Home' }).waitFor()
  const other = await otherTab(page, '/profile')
  await change(other, 'none')
  const now = (await saved(other).innerText()).replaceAll(', ', '\n')
  await page.goBack()
  await heading(page, 'Profile of ann')
  await expect.poll(() => page.getByLabel('log').inputValue()).toBe(now)
})

for (const wasTouched of [true, false]) {
  browserTest(
    `a user who signs in again gets what was typed before ${wasTouched ? 'Back' : 'signing out and Back'}`,
    async ({ open }) => {
      const page = await open(REFUSED)
      await page.route('**/stored/public', (route) => route.continue())
      await openComment(page, '/stored/public', 'ann')
      await visit(page, '/stored/public')
      await write(page)
      await visit(page, '/stored/comment')
      const other = wasTouched ? undefined : await signOutElsewhere(page, '/stored/public')
      if (wasTouched) await page.goBack()
      else await backAndAgain(page)
      await untilAlive(page)
      // What a test evaluates counts as touched by the visitor.
      await page.evaluate(() => {
        Object.defineProperty(navigator.userActivation, 'hasBeenActive', { value: false, configurable: true })
      })
      if (wasTouched) await expect.poll(() => texts(page)).toEqual(WRITTEN)
      const tab = other ?? (await signOutElsewhere(page, '/stored/public'))
      await heading(page, 'Comment of nobody')
      await expect.poll(() => texts(page)).toEqual(EMPTY)
      await visit(tab, '/stored/sign-in?to=public')
      await signIn(tab, 'ann')
      await heading(page, 'Comment of ann')
      await expect.poll(() => texts(page)).toEqual(WRITTEN)
    },
  )
}
