import { hash } from 'node:crypto'
import { unauthorized, type GuardArgs } from 'millrace/server'
import { findUser, type User } from '../accounts/users.server.ts'

export function apiUser({ context, request }: Pick<GuardArgs, 'context' | 'request'>): Promise<User> {
  return context.once('api user', () => {
    const token = /^Bearer (\S{1,100})$/.exec(request.headers.get('authorization') ?? '')?.[1] ?? unauthorized()
    return findUser(context, 'token', hash('sha256', token)) ?? unauthorized()
  })
}

export async function guard(args: GuardArgs<'/api'>): Promise<void> {
  await apiUser(args)
}
