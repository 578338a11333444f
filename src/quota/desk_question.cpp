#include "quota/desk_question.hpp"

#include <utility>

namespace liqo::quota {

void DeskQuestion::answer(core::QuotaVerdict said) {
  if (verdict) return;
  verdict = std::move(said);
  answered.set();
}

void answer_all(const DeskBatch& batch, const core::QuotaVerdict& verdict) {
  for (const auto& asked : batch) asked->answer(verdict);
}

}  // namespace liqo::quota
