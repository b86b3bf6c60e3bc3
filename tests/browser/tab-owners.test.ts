/** What a tab has read for its user, and what was chosen in it, and the next user. */
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { heading, holdAnswers, setVisible } from '../support/router-page.ts'
import { browserTest, openComment, otherTab, REFUSED, signIn, signOutElsewhere, visit } from '../support/typed-page.ts'

const peeked = (page: Page, text: string) => page.getByTestId('peeked').getByText(text, { exact: true }).waitFor()
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

async function peekAs(page: Page, user: string): Promise<void> {
  await openComment(page, '/stored/comment', user)
  await visit(page, '/peek')
  await heading(page, 'Peek')
  await press(page, 'Peek')
  await peeked(page, user)
}

/** A fetcher of a former user's page is another one, which has read nothing; it reads as nobody. */
async function peekAgain(page: Page): Promise<void> {
  await peeked(page, 'idle, nothing')
  await press(page, 'Peek')
  await peeked(page, 'idle, refused')
}

describe('a fetcher in a layout that stays forgets what it has read', () => {
  browserTest('when its tab signs out, and reads it for the next user', async ({ open }) => {
    const page = await open(REFUSED)
    await peekAs(page, 'ann')
    await press(page, 'Sign out')
    await peekAgain(page)
    await press(page, 'Sign in as bob')
    await peeked(page, 'bob')
  })

  browserTest('when another tab signs out, or signs in', async ({ open }) => {
    const page = await open(REFUSED)
    await peekAs(page, 'ann')
    const other = await signOutElsewhere(page, '/stored/comment')
    await peekAgain(page)
    await signIn(other, 'bob')
    await heading(other, 'Comment of bob')
    await peeked(page, 'bob')
  })

  browserTest('when it is not visible, as its page does', async ({ open }) => {
    const page = await open(REFUSED)
    await peekAs(page, 'ann')
    await setVisible(page, false)
    const hidden = await otherTab(page, '/stored/comment')
    await setVisible(hidden, false)
    const other = await signOutElsewhere(page, '/stored/comment')
    await peekAgain(page)
    await heading(hidden, 'Sign in')
    await signIn(other, 'bob')
    await heading(other, 'Comment of bob')
    await peeked(page, 'bob')
    await setVisible(page, true)
    await peeked(page, 'bob')
  })

  browserTest('when React has hidden it meanwhile, before it is shown again', async ({ open }) => {
    const page = await open(REFUSED)
    await peekAs(page, 'ann')
    await press(page, 'Fold')
    await page.getByTestId('peeked').waitFor({ state: 'hidden' })
    const painted = new Set<string>()
    await page.exposeFunction('paint', (text: string) => painted.add(text))
    const watch = (): void => {
      const look = (): void => {
        const shown = document.querySelector('[data-testid=peeked]:not([style*=none])')?.textContent
        if (shown) (window as never as { paint(text: string): void }).paint(shown)
        requestAnimationFrame(look)
      }
      look()
    }
    await page.addInitScript(watch)
    await page.evaluate(watch)
    await signOutElsewhere(page, '/stored/comment')
    await peeked(page, 'idle, nothing')
    expect([...painted]).toEqual(['idle, nothing'])
  })

  browserTest('and only then: another tab of the same user changes nothing', async ({ open }) => {
    const page = await open(REFUSED)
    await peekAs(page, 'ann')
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    const other = await otherTab(page, '/stored/comment')
    await heading(other, 'Comment of ann')
    await press(other, 'Like')
    await other.getByTestId('likes').getByText('ann').waitFor()
    await peeked(page, 'ann')
    if (asked.some((url) => url.includes('/stored/comment'))) throw new Error(`asked ${asked.join(' ')}`)
  })
})

browserTest('an answer that arrives after its user has signed out in another tab shows nothing', async ({ open }) => {
  const page = await open(REFUSED)
  await peekAs(page, 'ann')
  const who = page.getByTestId('who')
  const answers = await holdAnswers(page, /_action=/)
  const shown = new Set<string>()
  await page.exposeFunction('show', (text: string) => shown.add(text))
  const watch = (): void => {
    const look = (): void => {
      const text = document.querySelector('[data-testid=who]')?.textContent
      if (text) (window as never as { show(text: string): void }).show(text)
    }
    new MutationObserver(look).observe(document, { childList: true, characterData: true, subtree: true })
  }
  await page.addInitScript(watch)
  await page.evaluate(watch)
  await press(page, 'Who am I?')
  await answers.asked
  const other = await signOutElsewhere(page, '/stored/comment')
  await other.close()
  await page.bringToFront()
  answers.release()
  await peeked(page, 'idle, nothing')
  await press(page, 'Who am I?')
  await who.getByText('nobody', { exact: true }).waitFor()
  expect([...shown]).toEqual(['null', 'nobody'])
})

/** What the form of questions would send. */
const answers = (page: Page) =>
  page.evaluate(() => {
    const form = document.querySelector<HTMLFormElement>('#answers')
    return form === null ? '' : new URLSearchParams(new FormData(form) as never).toString()
  })

for (const next of ['nobody', 'bob']) {
  browserTest(`what was chosen in a form whose page stays is not there for ${next}`, async ({ open }) => {
    const page = await open(REFUSED)
    await peekAs(page, 'ann')
    const before = await answers(page)
    for (const name of ['ill', 'sure', 'diet', 'news']) await page.locator(`#answers [name=${name}]`).last().click()
    await page.locator('#answers [value=phone]').check()
    await page.locator('[name=state]').selectOption('sick')
    await page.locator('[name=size]').selectOption('l')
    await page.locator('[name=many]').selectOption(['y'])
    expect(await answers(page)).toBe('ill=on&sure=on&diet=vegan&way=phone&state=sick&size=l&untouched=b&many=y')
    const other = await signOutElsewhere(page, '/stored/comment')
    if (next === 'bob') {
      await signIn(other, 'bob')
      await heading(other, 'Comment of bob')
    }
    await expect.poll(() => answers(page)).toBe(before)
    await press(page, 'Peek')
    await peeked(page, next === 'bob' ? 'bob' : 'idle, refused')
    expect(await page.getByTestId('state').innerText()).toBe('s false')
  })
}

for (const isClosed of [false, true]) {
  const title = `a document that arrives after its user has signed out in a tab that is ${isClosed ? 'closed' : 'open'}`
  browserTest(`${title} asks the server, and no other tab believes it`, async ({ open }) => {
    const page = await open(REFUSED)
    await openComment(page, '/stored/comment', 'ann')
    const late = await page.context().newPage()
    const documents = await holdAnswers(late, '**/stored/comment')
    const arriving = late.goto('/stored/comment')
    await documents.asked
    await page.getByLabel('note').fill('a secret note')
    await press(page, 'Sign out')
    await heading(page, 'Sign in')
    if (isClosed) await page.close()
    else {
      await page.evaluate(() => {
        const told: string[] = Reflect.set(window, 'told', []) ? Reflect.get(window, 'told') : []
        const channel = new BroadcastChannel('millrace')
        channel.addEventListener('message', ({ data }) => void told.push(String(data)))
      })
    }
    documents.release()
    await arriving
    await heading(late, 'Sign in')
    if (isClosed) return
    const told = await page.evaluate((): readonly string[] => Reflect.get(window, 'told'))
    expect(told.filter((text) => !text.endsWith(':-'))).toEqual([])
  })
}
