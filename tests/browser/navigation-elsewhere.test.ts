import { describe, expect, onTestFinished } from 'vitest'
import { browserTest } from '../support/browser.ts'
import { follow, heading, openAlive, recordData, sameDocument } from '../support/followed-links.ts'
import { openDeployment } from '../support/router-app.ts'

describe('an answer other than a page', () => {
  browserTest('a redirect of a loader leads on', async ({ open }) => {
    const page = await openAlive(open, '/lab')
    await follow(page, '/lab/redirect/temporary')
    await heading(page, 'Landed')
    expect(new URL(page.url()).pathname).toBe('/lab/landed')
    await page.goBack()
    await heading(page, 'Lab')
    expect(await sameDocument(page)).toBe(true)
  })

  browserTest('a rule’s redirect and a rewrite are the server’s to say', async ({ open }) => {
    const page = await openAlive(open, '/lab')
    await follow(page, '/lab/old/7')
    await page.getByTestId('params').getByText('"7"').waitFor()
    expect(new URL(page.url()).pathname).toBe('/lab/params/7')
    await follow(page, '/lab/alias/8')
    await page.getByTestId('params').getByText('"8"').waitFor()
    expect(new URL(page.url()).pathname).toBe('/lab/alias/8')
    expect(await sameDocument(page)).toBe(true)
  })

  browserTest.for([
    ['/nowhere', 404, 'Not found'],
    ['/lab/not-found', 404, 'Not found'],
    ['/lab/forbidden', 403, 'Forbidden'],
    ['/lab/unauthorized', 401, 'Sign-in needed'],
  ] as const)('%s shows the fallback as the server does', async ([path, status], { open }) => {
    const allow = [new RegExp(`responded with a status of ${status} `)]
    const served = await open({ allow })
    await served.goto(path)
    const text = await served.locator('main').innerText()
    const page = await openAlive(open, '/lab', allow)
    await follow(page, path)
    await page.getByTestId('fallback').waitFor()
    expect(await page.locator('main').innerText()).toBe(text)
    expect(await page.locator('meta[name=robots][content=noindex]').count()).toBe(1)
    expect(await sameDocument(page)).toBe(true)
  })

  browserTest('a failure is tried again three times, then shown with its digest', async ({ open }) => {
    const page = await openAlive(open, '/lab', [/responded with a status of 500 /])
    const asked = recordData(page)
    await follow(page, '/lab/crash/loader')
    await page.getByTestId('digest').waitFor()
    expect(await page.getByTestId('digest').textContent()).toMatch(/^Digest: [0-9a-f]{12}$/)
    expect(asked.filter((path) => !path.endsWith(' ahead'))).toEqual(
      Array.from({ length: 4 }, () => '/lab/crash/loader'),
    )
    await follow(page, '/lab/landed')
    await heading(page, 'Landed')
  })

  browserTest('HTML where data was expected is loaded as a document', async ({ open }) => {
    const page = await openAlive(open, '/lab', [/Failed to load route data/])
    await page.route('**/_m/data/lab/cache/2*', (route) =>
      route.fulfill({ contentType: 'text/html', body: '<p>Pay</p>' }),
    )
    await follow(page, '/lab/cache/2')
    await heading(page, 'Key 2')
    await expect.poll(() => sameDocument(page)).toBe(false)
  })

  browserTest('an answer of another build makes the navigation a document load, once', async ({ open }) => {
    const page = await openAlive(open, '/lab', [/Failed to load route data/])
    await page.route('**/_m/data/lab/cache/2*', async (route) => {
      const answer = await route.fetch()
      await route.fulfill({ response: answer, headers: { ...answer.headers(), 'x-millrace-build': 'another' } })
    })
    await follow(page, '/lab/cache/2')
    await heading(page, 'Key 2')
    await follow(page, '/lab/cache/1')
    await heading(page, 'Key 1')
    await expect.poll(() => sameDocument(page)).toBe(false)
  })

  browserTest('that breaks off behind the shell is asked for again by "Try again"', async ({ open, server }) => {
    const gate = await openDeployment(server)
    onTestFinished(() => gate.close())
    const page = await openAlive(open, `${gate.origin}/lab`, [/ERR_|network error/])
    await follow(page, '/lab/stream?delay=2000')
    await page.getByTestId('shell').waitFor()
    gate.deploy(server) // ends what is open
    await page.getByTestId('error').waitFor()
    expect(await page.getByTestId('error').textContent()).toBe('This page has not arrived')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByTestId('deferred').waitFor()
    expect(await page.getByTestId('deferred').textContent()).toContain('Arrived')
    expect(await sameDocument(page)).toBe(true)
    // The link that had it has gone.
    expect(await page.evaluate(() => document.activeElement?.localName)).toBe('h1')
  })

  browserTest('code that does not come makes the navigation a document load', async ({ open }) => {
    const page = await openAlive(open, '/lab', [/Failed to load script: /, /ERR_FAILED/, /modulepreload|preload/])
    const documents: string[] = []
    page.on('request', (request) => void (request.isNavigationRequest() && documents.push(request.url())))
    // The router may or may not have asked for the script ahead of its import; the next document gets it in any case.
    await page.route('**/_m/assets/landed-page-*.js', (route) =>
      documents.length === 0 ? route.abort() : route.fallback(),
    )
    await follow(page, '/lab/landed')
    await expect.poll(() => sameDocument(page).catch(() => true)).toBe(false)
    await heading(page, 'Landed')
    expect(documents).toHaveLength(1)
  })
})
