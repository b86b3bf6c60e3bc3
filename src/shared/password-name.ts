const PASSWORD_NAME = /password|passwd|passphrase|passcode|(?:^|[^a-z])(?:pass|pwd)(?:$|[^a-z])/i

/**
 * Whether a field's name marks it as a password. The content of such a field is never sent back to a page, whatever its
 * action declares.
 * @param name as in the form: `password`, `account.newPassword`, `user[pwd]`; not `compass` or `passport`.
 */
export function isPasswordName(name: string): boolean {
  return PASSWORD_NAME.test(name)
}
