/** A form that shows search params shows those of the page that is on the screen. */
import { isSameDocument, untilAlive } from 'millrace/testing'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { routerTest as browserTest } from '../support/router-app.ts'
import { pathOf } from '../support/router-page.ts'

const word = (page: Page) => page.getByLabel('word')

/** What is chosen. */
const choice = (page: Page) =>
  page.evaluate(() => {
    const controls = [...document.querySelectorAll<HTMLInputElement>('form :is(input,select)')]
    return controls.map(({ type, value, checked }) => (type === 'checkbox' ? checked : value))
  })

browserTest('back and forward show what the page was asked for, in fields that were typed in', async ({ open }) => {
  const page = await open()
  await page.goto('/filter?word=first')
  await untilAlive(page)
  await word(page).fill('second')
  await page.getByLabel('old').check()
  await page.getByLabel('order').selectOption('age')
  await page.getByLabel('Beside').fill('kept')
  await page.getByRole('button', { name: 'Search' }).click()
  await expect.poll(() => pathOf(page)).toBe('/filter?word=second&old=yes&order=age')
  expect(await choice(page)).toEqual(['second', true, 'age'])
  await page.goBack()
  await page.getByTestId('word').getByText('first').waitFor()
  await expect.poll(() => choice(page)).toEqual(['first', false, 'name'])
  await page.goForward()
  await page.getByTestId('word').getByText('second').waitFor()
  await expect.poll(() => choice(page)).toEqual(['second', true, 'age'])
  // What is no part of the form is nobody's but the visitor's.
  expect(await page.getByLabel('Beside').inputValue()).toBe('kept')
  expect(await isSameDocument(page)).toBe(true)
})

browserTest('what is typed while the page is on its way stays', async ({ open }) => {
  const page = await open()
  await page.goto('/filter?word=first')
  await untilAlive(page)
  await word(page).fill('second')
  await word(page).press('Enter')
  await word(page).pressSequentially(' and more')
  await page.getByTestId('word').getByText('second').waitFor()
  expect(await word(page).inputValue()).toBe('second and more')
})
