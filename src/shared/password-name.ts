const PASSWORD_NAME = /password|passwd|passphrase|passcode|(?:^|[^a-z])(?:pass|pwd)(?:$|[^a-z])/i

/**
 * Whether a field is taken for a password by its name alone. What such a field holds never goes back into a page, whatever
 * its action says.
 * @param name as it stands in the form: `password`, `account.newPassword`, `user[pwd]`; not `compass` or `passport`.
 */
export function isPasswordName(name: string): boolean {
  return PASSWORD_NAME.test(name)
}
