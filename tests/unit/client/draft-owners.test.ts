/** Whose typed text a tab holds, as it learns from answers. */
import { expect, test } from 'vitest'
import { createOwners } from '../../../src/client/core/page/draft-owners.ts'

/** Owners, and what is heard of them. */
function heardOwners() {
  const heard: string[] = []
  const owners = createOwners({
    left: () => heard.push('left'),
    back: () => heard.push('back'),
    changed: () => heard.push('changed'),
    forget: () => heard.push('forgotten'),
  })
  return { ...owners, heard }
}

/** What is heard while a tab learns marks, one after the other. */
function hear(...marks: readonly string[]): readonly string[] {
  const { heard, learn } = heardOwners()
  for (const text of marks) learn(text)
  return heard
}

test('a user with a mark by each of the server’s keys is the same as long as one of them is known', () => {
  expect(hear('~light:+.aaaaaaaaaa', '~light:+.bbbbbbbbbb.aaaaaaaaaa', '~light:+.bbbbbbbbbb')).toEqual([])
  expect(hear('account:id1.aaaaaaaaaa', 'account:-', 'account:id2.bbbbbbbbbb.aaaaaaaaaa')).toEqual(['left', 'back'])
})

test('another user is another, however many keys there are', () => {
  expect(hear('~light:+.aaaaaaaaaa.bbbbbbbbbb', '~light:+.cccccccccc.dddddddddd')).toEqual(['changed'])
  expect(hear('account:id1.aaaaaaaaaa.bbbbbbbbbb', 'account:-', 'account:id2.cccccccccc.dddddddddd')).toEqual([
    'left',
    'changed',
  ])
})

test('the session of a basket does not say that whoever had another one goes on', () => {
  expect(hear('basket:id.bbbbbbbbbb ~login:one', '~login:-')).toEqual(['changed'])
  expect(hear('account:id.aaaaaaaaaa basket:id.bbbbbbbbbb', 'account:- basket:id.bbbbbbbbbb')).toEqual(['left'])
  expect(hear('~basket:one', '~basket:-')).toEqual(['changed'])
})

test('a page is no former user’s once that user is back, but not once the next one is', () => {
  const { learn, page } = heardOwners()
  const [ann, bob, out] = ['account:id1.aaaaaaaaaa', 'account:id3.bbbbbbbbbb', 'account:-']
  const seen = [ann, out, 'account:id2.aaaaaaaaaa', bob, out, bob].map((marks) => {
    learn(marks)
    return page.isFormer
  })
  expect(seen).toEqual([false, true, false, true, true, true])
})

test('a page that has been loaded since its user has left is not of a former user', () => {
  const { learn, page, owners, inherit, heard } = heardOwners()
  learn('account:id1.aaaaaaaaaa')
  learn('account:-')
  // A document.
  page.isFormer = false
  // Other pages of the tab have known it, too.
  inherit(new Map(owners))
  expect(page.isFormer).toBe(false)
  learn('account:id3.bbbbbbbbbb')
  expect(page.isFormer).toBe(false)
  // What a guest has typed since is the next user's.
  expect(heard).toEqual(['left', 'forgotten'])
  learn('account:-')
  expect(page.isFormer).toBe(true)
})
