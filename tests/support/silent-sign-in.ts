/** Signs in so that no tab of the browser learns it: as by a document whose scripts have not run. */
import type { Page } from 'playwright-core'
import { heading } from './router-page.ts'
import { signIn } from './typed-page.ts'

/** Gives a browser the cookies of another one. */
export async function take(session: Page, page: Page): Promise<void> {
  await page.context().addCookies(await session.context().cookies())
}

/** Signs in to `typed-app` in a browser without scripts. @param kind of the session. */
export async function openWithoutScripts(
  open: (options: { javaScript: false }) => Promise<Page>,
  user: string,
  kind = 'stored',
): Promise<Page> {
  const page = await open({ javaScript: false })
  await page.goto(`/${kind}/sign-in?to=comment`)
  await signIn(page, user)
  await heading(page, `Comment of ${user}`)
  return page
}
