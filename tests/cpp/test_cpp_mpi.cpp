/* test_cpp_mpi.cpp -- bouma.hpp with MPI, on any number of ranks.
 *
 *   mpirun -n N test_cpp_mpi FOLDER */
#include <bouma_mpi.h>

#include <vector>

#include "claims.hpp"

static void slabs_are_read_by_other_ranks(const std::string &path, int rank,
                                          int ranks)
{
    std::vector<int> a(4 * 5, rank), b(4 * 5);
    bouma::options o;
    o.set("clobber", "yes");
    bouma::dataset run = bouma::dataset::create(MPI_COMM_WORLD, path, o);
    bouma::grid g = run.define_grid("grid", bouma::grid_spec({4 * ranks, 5}));
    bouma::variable v = g.define_variable<int>("v");
    bouma::status st;
    int other = (rank + 1) % ranks;

    run.begin(0, 0);
    if (rank == ranks - 1)
        v.put_borrow(bouma::view<int, 2>(a.data(), {5, 4}),
                     bouma::box({4 * rank, 0}, {4 * rank + 4, 5}),
                     BOUMA_CONVERT_EXACT, &st);
    else
        v.put_borrow(bouma::view<int, 2>(a.data(), {4, 5}),
                     bouma::box({4 * rank, 0}, {4 * rank + 4, 5}));
    run.end(&st);
    CHECK(st.code == BOUMA_EINVAL); /* on all ranks */
    run.begin(0, 0);
    v.put_borrow(bouma::view<int, 2>(a.data(), {4, 5}),
                 bouma::box({4 * rank, 0}, {4 * rank + 4, 5}));
    run.end();
    run.close();

    run = bouma::dataset::open(MPI_COMM_WORLD, path);
    bouma::step step = run.step(0);
    bouma::variable w = step.grid("grid")["v"];
    step.read({bouma::request(w, bouma::view<int, 2>(b.data(), {4, 5}),
                              bouma::box({4 * other, 0}, {4 * other + 4, 5}))});
    CHECK(b == std::vector<int>(20, other));
    /* A mistake of one rank fails the read on all. */
    step.read(
        {bouma::request(w, bouma::view<int, 2>(b.data(), {rank ? 4 : 2, 5}),
                        bouma::box({0, 0}, {4, 5}))},
        &st);
    CHECK(st.code == BOUMA_EINVAL);
}

static void ranks_share_a_plain_file(const std::string &path, int rank,
                                     int ranks)
{
    std::vector<int> mine(10, rank), all(static_cast<std::size_t>(10 * ranks));
    std::vector<int> few(1);
    bouma::pieces own, whole, wrong;
    bouma::status st;

    own.add(mine, static_cast<std::uint64_t>(rank) * 40);
    wrong.add(few, 0);
    whole.add(all, 0);
    bouma::file f =
        bouma::file::open(MPI_COMM_WORLD, path, BOUMA_FILE_MODE_CREATE);
    CHECK(f.group().rank == rank && f.group().ranks == ranks);
    f.declare(own);
    f.write(own);
    f.write(rank == ranks - 1 ? wrong : own, &st);
    CHECK(st.code == BOUMA_EINVAL); /* on all ranks */
    f.close();
    f = bouma::file::open(MPI_COMM_WORLD, path, BOUMA_FILE_MODE_READ);
    f.declare(whole);
    f.read(whole);
    for (int i = 0; i < 10 * ranks; i++)
        CHECK(all[static_cast<std::size_t>(i)] == i / 10);
}

static void what_else_takes_a_communicator(const std::string &path)
{
    std::vector<bouma::finding> findings;
    bouma::probe_spec nowhere;
    bouma::status st;

    CHECK(bouma::verify(MPI_COMM_WORLD, path, BOUMA_DEPTH_FULL, &findings)
              .damages == 0);
    CHECK(findings.empty());
    bouma::drain(MPI_COMM_WORLD, path + ".local", path, false, {}, &st);
    CHECK(!st);
    nowhere.target = "/no/such/place";
    nowhere.storage_bytes = 1;
    nowhere.tries = 1;
    bouma::probe(MPI_COMM_WORLD, nowhere, {}, &st);
    CHECK(!st);
}

int main(int argc, char **argv)
{
    int rank, ranks;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    slabs_are_read_by_other_ranks(
        std::string(argc > 1 ? argv[1] : ".") + "/slabs.bouma", rank, ranks);
    ranks_share_a_plain_file(
        std::string(argc > 1 ? argv[1] : ".") + "/plain.dat", rank, ranks);
    what_else_takes_a_communicator(std::string(argc > 1 ? argv[1] : ".") +
                                   "/slabs.bouma");
    MPI_Finalize();
    return failed != 0;
}
