import { anyone } from './anyone.ts'
import { ApiError } from './api-error.ts'

/** Whether the service works here, has moved to another computer, or does not tell. */
export async function readPlace(): Promise<'here' | 'moved' | 'unknown'> {
  try {
    await anyone.call('GET /readyz')
    return 'here'
  } catch (cause) {
    if (!(cause instanceof ApiError)) throw cause
    return cause.code === 'moved' ? 'moved' : 'unknown'
  }
}
