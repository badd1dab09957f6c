/** The pages of the documentation that describe routes. The API document has their words and examples. */
import addresses from '../../docs/api/addresses.md' with { type: 'text' }
import announcement from '../../docs/api/announcement.md' with { type: 'text' }
import authentication from '../../docs/api/authentication.md' with { type: 'text' }
import cardPayments from '../../docs/api/card-payments.md' with { type: 'text' }
import cardSettings from '../../docs/api/card-settings.md' with { type: 'text' }
import cards from '../../docs/api/cards.md' with { type: 'text' }
import definitions from '../../docs/api/definitions.md' with { type: 'text' }
import gateway from '../../docs/api/gateway.md' with { type: 'text' }
import identities from '../../docs/api/identities.md' with { type: 'text' }
import ledger from '../../docs/api/ledger.md' with { type: 'text' }
import merchants from '../../docs/api/merchants.md' with { type: 'text' }
import minters from '../../docs/api/minters.md' with { type: 'text' }
import minting from '../../docs/api/minting.md' with { type: 'text' }
import moving from '../../docs/api/moving.md' with { type: 'text' }
import pictures from '../../docs/api/pictures.md' with { type: 'text' }
import posters from '../../docs/api/posters.md' with { type: 'text' }
import refresh from '../../docs/api/refresh.md' with { type: 'text' }
import service from '../../docs/api/service.md' with { type: 'text' }
import shop from '../../docs/api/shop.md' with { type: 'text' }
import statistics from '../../docs/api/statistics.md' with { type: 'text' }
import transfers from '../../docs/api/transfers.md' with { type: 'text' }
import voiding from '../../docs/api/voiding.md' with { type: 'text' }
import vouchers from '../../docs/api/vouchers.md' with { type: 'text' }

export const routePages: readonly string[] = [
  addresses,
  announcement,
  authentication,
  cardPayments,
  cardSettings,
  cards,
  definitions,
  gateway,
  identities,
  ledger,
  merchants,
  minters,
  minting,
  moving,
  pictures,
  posters,
  refresh,
  service,
  shop,
  statistics,
  transfers,
  voiding,
  vouchers,
]
