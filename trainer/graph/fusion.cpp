#include "trainer/graph/fusion.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "formats/base/error.h"
#include "formats/base/kind.h"
#include "trainer/graph/op.h"

namespace feedrate::trainer {
using namespace formats;

namespace {

constexpr struct {
  std::string_view name;
  bool Fusions::*wanted;
} kinds[] = {{"norm-sum", &Fusions::norm_sum},
             {"sum-gradient", &Fusions::sum_gradient},
             {"relu-gradient", &Fusions::relu_gradient},
             {"weight-branch", &Fusions::weight_branch},
             {"early-kernels", &Fusions::early_kernels}};

struct Reader {
  std::size_t node;
  std::size_t input;  // its number
};

class Fuser {
 public:
  Fuser(Plan& plan, const Fusions& wanted, std::span<const std::size_t> left_out)
      : plan_(plan),
        wanted_(wanted),
        left_out_(left_out),
        nodes_(plan.graph.nodes),
        end_(2 * nodes_.size() - 1),
        readers_(nodes_.size()) {
    for (std::size_t j = 0; j < nodes_.size(); ++j) {
      for (std::size_t k = 0; k < nodes_[j].inputs.size(); ++k) {
        readers_[nodes_[j].inputs[k]].push_back({j, k});
      }
    }
  }

  Fused fuse() {
    fused_.masked_norms.resize(nodes_.size());
    fused_.early_kernels = wanted_.early_kernels;
    if (wanted_.weight_branch) find_branch();
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (is_fusible_sum(i)) find_block_end(i);
    }
    if (wanted_.sum_gradient) move_gradients();
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const std::size_t relu = relu_after(plan_, i);
      fused_.masked_norms[i] =
          wanted_.relu_gradient && traits(i).scales_channels && plan_.learns[i] && relu != no_node;
    }
    plan_lifetimes();
    return std::move(fused_);
  }

 private:
  const OpTraits& traits(std::size_t i) const { return nodes_[i].op->traits(); }
  std::size_t backward_of(std::size_t i) const { return end_ - i; }

  bool is_fusible_sum(std::size_t i) const {
    return traits(i).is_residual_sum && std::ranges::find(left_out_, i) == left_out_.end();
  }

  bool is_norm_of(std::size_t i, std::size_t sum) const {
    return traits(i).scales_channels && readers_[i].size() == 1 && readers_[i][0].node == sum;
  }

  void find_branch() {
    fused_.weight_branch.resize(nodes_.size());
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      fused_.weight_branch[i] =
          plan_.learns[i] && traits(i).weights != WeightKind::none && leaves_room(i);
    }
  }

  // Whether a product leaves room on a GPU for another beside it: on an H200 the branch makes steps
  // of ResNet-50 4 % faster at batch 8, and 1 % slower at 64 and 256, where most fill the GPU.
  bool leaves_room(std::size_t i) const {
    constexpr double small_product = 2e9;  // multiply-adds
    return static_cast<double>(plan_.graph.macs(nodes_[i])) * plan_.batch <= small_product;
  }

  // The last moment at which a node's backward reads its output gradient and its input.
  std::size_t last_backward_read(std::size_t i) const {
    if (!fused_.on_branch(i)) return backward_of(i);
    std::size_t next = i;
    while (next > 0 && (next == i || !fused_.on_branch(next))) --next;
    return backward_of(next) - (next > 0 ? 1 : 0);  // the next one waits for it before it begins
  }

  void move_gradients() {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (is_fusible_sum(i)) find_alias(i);
    }
    order_sums();
    for (BlockEnd& end : fused_.block_ends) find_second_term(end);
    for (const Alias& alias : fused_.aliases) keep_until_read(alias);
  }

  void find_block_end(std::size_t sum) {
    BlockEnd end{.sum = sum, .relu = relu_after(plan_, sum)};
    const std::vector<std::size_t>& inputs = nodes_[sum].inputs;
    if (end.relu == no_node || inputs[0] == inputs[1]) return;
    for (std::size_t k = 0; k < 2; ++k) {
      if (is_norm_of(inputs[k], sum)) end.norms[k] = inputs[k];
    }
    if (end.norms[0] == no_node && end.norms[1] == no_node) return;
    if (wanted_.by_last_norm) {
      end.last_norm = sum - 1;
      if (end.norms[0] != end.last_norm && end.norms[1] != end.last_norm) return;
      // Of several readers, the norm would have to add its gradient to those of the others.
      if (readers_[nodes_[end.last_norm].inputs[0]].size() != 1) return;
    }
    end.forward = wanted_.norm_sum;
    end.backward = wanted_.sum_gradient;  // a norm has parameters, so the sum learns
    if (end.last_norm != no_node && end.forward) {
      Lifetime& output = plan_.activations[plan_.activation_buffers[sum]];
      output.first = std::min(output.first, end.last_norm);
    }
    if (end.forward || end.backward) fused_.block_ends.push_back(end);
  }

  // Gives the input of a node that works in place a gradient in a buffer of its own, which the
  // nodes before it go on sharing.
  void separate_gradient(std::size_t node) {
    const std::size_t shared = plan_.gradient_buffers[node];
    std::size_t i = nodes_[node].inputs[0];
    const std::size_t own = i;
    while (plan_.gradient_buffers[i] == shared) {
      plan_.gradient_buffers[i] = own;
      if (!traits(i).in_place || nodes_[i].inputs.empty()) return;
      i = nodes_[i].inputs[0];
    }
  }
  bool in_place(std::size_t i) const {
    return traits(i).in_place &&
           plan_.gradient_buffers[nodes_[i].inputs[0]] == plan_.gradient_buffers[i];
  }

  void find_alias(std::size_t sum) {
    const std::size_t x = nodes_[sum].inputs[1];
    const bool known = std::ranges::any_of(
        fused_.aliases, [&](const Alias& other) { return nodes_[other.sum].inputs[1] == x; });
    const std::size_t branch = nodes_[sum].inputs[0];
    if (branch == x || known || !plan_.has_gradient(x)) return;
    // The branch's gradient would need a buffer of its own, which only norms are given.
    if (in_place(branch) && !traits(branch).scales_channels) return;
    std::size_t first_other = no_node;  // in the order of backward
    for (const Reader& reader : readers_[x]) {
      if (reader.node != sum) first_other = reader.node;
    }
    if (first_other == no_node) {
      // The sum alone reads x, so x must not overwrite the gradient.
      if (in_place(x) && !traits(x).scales_channels) return;
      if (in_place(x)) separate_gradient(x);
      plan_.gradient_buffers[x] = plan_.gradient_buffers[sum];
      fused_.aliases.push_back({sum, no_node});
      return;
    }
    fused_.aliases.push_back({sum, std::min(first_other, sum)});
  }

  // Finds which gradients are added, as make_plan() does, but an alias writes nothing.
  void order_sums() {
    std::vector<bool> written(nodes_.size());
    for (std::size_t j = nodes_.size(); j-- > 0;) {
      for (std::size_t k = 0; k < nodes_[j].inputs.size(); ++k) {
        const std::size_t i = nodes_[j].inputs[k];
        if (is_alias(j, k)) continue;
        plan_.adds[j][k] = written[i];
        written[i] = true;
      }
    }
    for (const Alias& alias : fused_.aliases) plan_.adds[alias.sum][1] = false;
  }
  bool is_alias(std::size_t j, std::size_t k) const {
    return k == 1 && fused_.alias_of(j) != nullptr;
  }

  void find_second_term(BlockEnd& end) {
    const std::vector<Reader>& readers = readers_[end.relu];
    if (!end.backward || readers.size() != 2) return;
    for (const Reader& reader : readers) {
      if (!is_alias(reader.node, reader.input) && !plan_.adds[reader.node][reader.input]) continue;
      end.term_reader = reader.node;
      end.term_input = reader.input;
    }
    for (Alias& alias : fused_.aliases) {
      if (alias.sum == end.term_reader && end.term_input == 1) alias.added_after = no_node;
    }
  }

  // The moment at which an alias is last read.
  std::size_t last_read(const Alias& alias) const {
    if (alias.added_after != no_node) return backward_of(alias.added_after);
    const BlockEnd* end = fused_.end_with_term(alias.sum, 1);
    return end != nullptr ? backward_of(end->sum) : last_backward_read(nodes_[alias.sum].inputs[1]);
  }

  // The sum's first input must not overwrite the buffer of an alias that is read later.
  void keep_until_read(const Alias& alias) {
    const std::size_t branch = nodes_[alias.sum].inputs[0];
    const bool shares = plan_.gradient_buffers[branch] == plan_.gradient_buffers[alias.sum];
    if (shares && in_place(branch) && backward_of(branch) <= last_read(alias))
      separate_gradient(branch);
  }

  void plan_lifetimes() {
    std::vector<Lifetime> lifetimes;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      lifetimes.push_back({backward_of(i), last_backward_read(i)});
      if (fused_.on_branch(i)) keep_activation(nodes_[i].inputs[0], last_backward_read(i));
      for (const Reader& reader : readers_[i]) {
        if (is_alias(reader.node, reader.input)) continue;
        lifetimes[i].first = std::min(lifetimes[i].first, backward_of(reader.node));
      }
    }
    for (const BlockEnd& end : fused_.block_ends) {
      if (!end.backward) continue;
      for (const std::size_t norm : end.norms) {
        if (end.last_norm == no_node ? !end.has_two_norms() : norm != end.last_norm) continue;
        Lifetime& input = lifetimes[nodes_[norm].inputs[0]];
        input.first = std::min(input.first, backward_of(end.sum));
      }
    }
    const std::vector<Lifetime> own = lifetimes;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      Lifetime& buffer = lifetimes[plan_.gradient_buffers[i]];
      buffer.first = std::min(buffer.first, own[i].first);
      buffer.last = std::max(buffer.last, own[i].last);
    }
    for (const Alias& alias : fused_.aliases) {
      Lifetime& buffer = lifetimes[plan_.gradient_buffers[alias.sum]];
      buffer.last = std::max(buffer.last, last_read(alias));
    }
    plan_.gradients = std::move(lifetimes);
  }

  void keep_activation(std::size_t i, std::size_t until) {
    for (const std::size_t kept : {i, plan_.activation_buffers[i]}) {
      plan_.activations[kept].last = std::max(plan_.activations[kept].last, until);
    }
  }

  Plan& plan_;
  const Fusions& wanted_;
  std::span<const std::size_t> left_out_;
  const std::vector<Node>& nodes_;
  std::size_t end_;
  std::vector<std::vector<Reader>> readers_;  // by node, in the order of the network
  Fused fused_;
};

template <class Rows, class Match>
auto* find(Rows& rows, const Match& match) {
  const auto row = std::ranges::find_if(rows, match);
  return row == rows.end() ? nullptr : &*row;
}

}  // namespace

Fusions fusions_of_environment() {
  Fusions fusions;
  const char* given = std::getenv("FEEDRATE_UNFUSED");
  std::string_view left = given == nullptr ? "" : given;
  while (!left.empty()) {
    const std::string_view name = left.substr(0, left.find(','));
    left.remove_prefix(std::min(left.size(), name.size() + 1));
    bool known = false;
    std::vector<std::string_view> names{"all"};
    for (const auto& kind : kinds) {
      names.push_back(kind.name);
      if (name != kind.name && name != "all") continue;
      fusions.*kind.wanted = false;
      known = true;
    }
    if (!known) throw Error(join("FEEDRATE_UNFUSED: ", unknown_kind("fusion", name, names)));
  }
  return fusions;
}

const BlockEnd* Fused::end_of(std::size_t sum) const {
  return find(block_ends, [sum](const BlockEnd& end) { return end.sum == sum; });
}
const Alias* Fused::alias_of(std::size_t sum) const {
  return find(aliases, [sum](const Alias& alias) { return alias.sum == sum; });
}
const BlockEnd* Fused::end_with_norm(std::size_t norm) const {
  return find(block_ends,
              [norm](const BlockEnd& end) { return end.norms[0] == norm || end.norms[1] == norm; });
}
const BlockEnd* Fused::end_with_term(std::size_t reader, std::size_t input) const {
  return find(block_ends, [reader, input](const BlockEnd& end) {
    return end.term_reader == reader && end.term_input == input;
  });
}

bool Fused::gradient_done(const Plan& plan, std::size_t node) const {
  const BlockEnd* of_norm = end_with_norm(node);
  if (of_norm != nullptr && of_norm->backward && of_norm->has_two_norms()) return true;
  if (!plan.graph.nodes[node].op->traits().is_relu) return false;
  const std::size_t before = plan.graph.nodes[node].inputs[0];
  const BlockEnd* end = end_of(before);
  const bool masked = before < masked_norms.size() && masked_norms[before];
  return (end != nullptr && end->backward) || (masked && relu_after(plan, before) == node);
}

Fused fuse(Plan& plan, const Fusions& wanted, std::span<const std::size_t> left_out) {
  return Fuser(plan, wanted, left_out).fuse();
}

}  // namespace feedrate::trainer
