// platform.cpp -- the network of a machine file, for smpirun -platform: nodes
// n0, n1, ...; gateways g0, ... and storage servers s0, ... on a network of
// their own, which sim/storage.cpp joins.
#include <algorithm>
#include <cstdlib>
#include <simgrid/s4u.hpp>
#include <string>

#include "machine.hpp"

namespace sg = simgrid::s4u;
using Policy = sg::Link::SharingPolicy;

namespace
{

using Place = std::pair<simgrid::kernel::routing::NetPoint *,
                        simgrid::kernel::routing::NetPoint *>;

unsigned nodes_of_ranks()
{
    const char *said = std::getenv("BOUMA_SIM_NODES");

    return said ? (unsigned)std::atoi(said) : 1;
}

// Those of gateways, "b0", ..., are spread evenly among the others.
std::string node_name(unsigned long id)
{
    auto gateways = (unsigned long)sim::machine().gateway_nodes;
    unsigned long all = nodes_of_ranks() + gateways;
    unsigned long before = id * gateways / all;

    return (id + 1) * gateways / all > before
               ? "b" + std::to_string(before)
               : "n" + std::to_string(id - before);
}

Place make_node(sg::NetZone *zone, const std::vector<unsigned long> &,
                unsigned long id)
{
    auto *host = zone->create_host(node_name(id), 1e9)->seal();

    return {host->get_netpoint(), nullptr};
}

sg::Link *make_loopback(sg::NetZone *zone, const std::vector<unsigned long> &,
                        unsigned long id)
{
    return zone
        ->create_link("loop" + std::to_string(id),
                      sim::machine().node_bandwidth)
        ->set_latency(1e-7)
        ->set_sharing_policy(Policy::SHARED)
        ->seal();
}

// Of a node: SimGrid asks for one of each router, too, which would have to carry
// all that goes through it.
sg::Link *make_limiter(sg::NetZone *zone, const std::vector<unsigned long> &,
                       unsigned long id)
{
    if (!sg::Host::by_name_or_null(node_name(id)))
        return nullptr;
    return zone
        ->create_link("limit" + std::to_string(id),
                      sim::machine().injection_bandwidth)
        ->seal();
}

unsigned up(unsigned a, unsigned b)
{
    return (a + b - 1) / b;
}

sg::NetZone *make_network(const sg::NetZone *root, unsigned nodes)
{
    const sim::Machine &m = sim::machine();
    sg::ClusterCallbacks calls(make_node, make_loopback,
                               m.injection_bandwidth > 0
                                   ? make_limiter
                                   : decltype (&make_limiter)(nullptr));

    if (m.network == "torus")
        return sg::create_torus_zone(
            "nodes", root, sim::torus_extents((int)nodes, m.axes), calls,
            m.link_bandwidth, m.link_latency, Policy::SPLITDUPLEX);
    if (m.network == "dragonfly") {
        // Of a Cray XC: 4 nodes a router, 16 routers a chassis, 6 chassis a
        // group; one link of each kind counts for several cables.
        unsigned groups = up(nodes, 384);
        unsigned chassis = groups > 1 ? 6 : up(nodes, 64);
        unsigned routers = groups > 1 || chassis > 1 ? 16 : up(nodes, 4);

        return sg::create_dragonfly_zone(
            "nodes", root, {{groups, 4}, {chassis, 3}, {routers, 1}, 4}, calls,
            m.link_bandwidth, m.link_latency, Policy::SPLITDUPLEX);
    }
    // Leaves of 32 nodes, half as many links up ("fattree"), or as many nodes as
    // there are on one switch.
    unsigned leaf = std::min(nodes, 32u), leaves = up(nodes, leaf);

    if (m.network == "fattree" && leaves > 1)
        return sg::create_fatTree_zone(
            "nodes", root, {2, {leaf, leaves}, {1, leaf / 2}, {1, 1}}, calls,
            m.link_bandwidth, m.link_latency, Policy::SPLITDUPLEX);
    return sg::create_fatTree_zone(
        "nodes", root, {1, {std::max(nodes, 1u)}, {1}, {1}}, calls,
        m.link_bandwidth, m.link_latency, Policy::SPLITDUPLEX);
}

// A host on the storage network, with a link of its own, in each direction.
void add_storage_host(sg::NetZone *zone, const std::string &name,
                      double bandwidth)
{
    auto *host = zone->create_host(name, 1e9)->seal();
    auto *link = zone->create_split_duplex_link(name + "_link", bandwidth)
                     ->set_latency(5e-6)
                     ->seal();

    zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr,
                    {{link, sg::LinkInRoute::Direction::UP}}, true);
}

} // namespace

extern "C" void load_platform(const sg::Engine &);
void load_platform(const sg::Engine &)
{
    const sim::Machine &m = sim::machine();
    unsigned nodes = nodes_of_ranks();
    auto *root = sg::create_full_zone("machine");
    auto *storage = sg::create_star_zone("storage");

    make_network(root, nodes + (unsigned)m.gateway_nodes)->seal();
    storage->set_parent(root);
    for (unsigned g = 0; g < sim::gateways((int)nodes); g++)
        add_storage_host(storage, "g" + std::to_string(g), m.gateway_bandwidth);
    for (int s = 0; s < m.servers; s++)
        add_storage_host(storage, "s" + std::to_string(s),
                         std::max(m.gateway_bandwidth, m.server_bandwidth));
    storage->seal();
    root->seal();
}
