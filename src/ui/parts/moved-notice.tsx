import { ApiError } from '../../client/api-error.ts'
import { errorText } from '../words/errors.ts'
import { Notice } from './notice.tsx'

/** Says that the service goes on at another computer, where nothing happens here any more. */
export function MovedNotice() {
  return <Notice tone="moved">{errorText(new ApiError('moved'))}</Notice>
}
