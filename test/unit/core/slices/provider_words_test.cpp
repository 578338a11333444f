#include "core/slices/provider_words.hpp"

#include <doctest/doctest.h>

using liqo::core::in_provider_words;

TEST_CASE("an answer that was written for the consumer is read at the provider as the provider's own") {
  struct Row {
    std::string_view consumer_reads, provider_reads;
  };
  const Row rows[] = {
      {"", ""},
      {"ResourceSlice resources accepted", "ResourceSlice resources accepted"},
      {"the provider has cordoned this cluster: what is granted stays, new pods are refused",
       "this cluster has cordoned consumer rome: what is granted stays, new pods are refused"},
      {"the provider has cordoned this slice", "this cluster has cordoned this slice"},
      {"the default ResourceSlice class has been administratively disabled on the provider",
       "the default ResourceSlice class has been administratively disabled on this cluster"},
      // A sentence that is cut off, and the beginning of a name.
      {"the provider has drained this clust", "this cluster has drained this clust"},
      {"the provid", "the provid"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.consumer_reads);
    CHECK(in_provider_words(row.consumer_reads, "rome") == row.provider_reads);
  }
}

TEST_CASE("what a consumer is advised to do, an operator of the provider is not told to do") {
  struct Row {
    std::string_view consumer_reads, provider_reads;
  };
  const Row rows[] = {
      {"the provider grants a slice of this cluster no more than 8 of cpu, and this one would have 9: ask for less, or "
       "its operator for more (maxSliceResources in the policy)",
       "this cluster grants a slice of consumer rome no more than 8 of cpu, and this one would have 9: allow more with "
       "liqoctl set tenant rome --max-slice"},
      {"the provider grants all slices of this cluster together no more than 10 of cpu, the others have 4 and this one "
       "would have 7: ask for less, or its operator for more (maxResources in the policy)",
       "this cluster grants all slices of consumer rome together no more than 10 of cpu, the others have 4 and this "
       "one would have 7: allow more with liqoctl set tenant rome --max"},
      {"the others have 8 (pool 8 by its pods, granted 0) and this one would have 10: ask for less, wait for these "
       "pods to end, or ask its operator for more (maxResources in the policy)",
       "the others have 8 (pool 8 by its pods, granted 0) and this one would have 10: wait for these pods to end, or "
       "allow more with liqoctl set tenant rome --max"},
      {"the others have 10 (a 10): name pods in the request of each slice, or ask its operator for more (maxResources "
       "in the policy)",
       "the others have 10 (a 10): allow more with liqoctl set tenant rome --max"},
      {"the provider serves no slices of class share; ask its operator for the class to use",
       "this cluster serves no slices of class share"},
      {"spec.resources is not a list of resources by name; what was granted before stays: set the spec back to what it "
       "was, and the slice is accepted again",
       "spec.resources is not a list of resources by name; what was granted before stays"},
      {"the provider's policy for this cluster cannot be understood (maxResources): its operator has to correct it",
       "this cluster's policy for consumer rome cannot be understood (maxResources): correct it"},
      {"the provider's settings cannot be read (sharing-percentage: many): its operator has to correct ConfigMap "
       "liqo-sharing-policy",
       "this cluster's settings cannot be read (sharing-percentage: many): correct ConfigMap liqo-sharing-policy"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.consumer_reads);
    CHECK(in_provider_words(row.consumer_reads, "rome") == row.provider_reads);
  }
}
