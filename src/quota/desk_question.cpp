#include "quota/desk_question.hpp"

#include <utility>

namespace liqo::quota {

void DeskQuestion::tell(core::QuotaVerdict said) {
  if (verdict) return;
  verdict = std::move(said);
  answered.set();
}

void tell_all(const DeskBatch& batch, const core::QuotaVerdict& verdict) {
  for (const auto& asked : batch) asked->tell(verdict);
}

}  // namespace liqo::quota
