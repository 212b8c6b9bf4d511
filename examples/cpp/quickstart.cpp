/* quickstart.cpp -- bouma from C++: write three steps of a field and of particles, and
 * read the last one back, coarse first.
 *
 *   quickstart [quickstart.bouma]
 *
 * The particles are an array of structs: their members are handed over as they lie in
 * memory. Whatever fails throws bouma::error. */
#include <bouma.hpp>

#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

namespace
{

constexpr int n = 64, steps = 3;

struct grain {
    std::array<double, 3> position; /* x, y, z */
    float heat;
};

void simulate(bouma::view<float, 3> field, std::vector<grain> &grains, int step)
{
    for (int z = 0; z < n; z++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++)
                field(z, y, x) = static_cast<float>(step + z + y * x);
    for (std::size_t i = 0; i < grains.size(); i++) {
        double turn = 0.01 * static_cast<double>(i) + step;
        grains[i] = {{32 + 20 * std::cos(turn), 32 + 20 * std::sin(turn),
                      64.0 * static_cast<double>(i) /
                          static_cast<double>(grains.size())},
                     static_cast<float>(i)};
    }
}

void write(const char *path)
{
    std::vector<float> values(n * n * n);
    bouma::view<float, 3> field(values.data(), {n, n, n});
    std::vector<grain> grains(5000);

    bouma::options options;
    options.set("clobber", "yes");
    bouma::dataset run = bouma::dataset::create(path, options);
    bouma::grid cube = run.define_grid("cube", bouma::grid_spec({n, n, n}));
    bouma::variable density = cube.define_variable<float>("density");
    bouma::particles_spec set(3);
    set.type = BOUMA_TYPE_F64;
    bouma::particles dust = run.define_particles("dust", set);
    bouma::variable heat = dust.define_variable<float>("heat");

    for (int step = 0; step < steps; step++) {
        simulate(field, grains, step);
        bouma::columns columns;
        columns.add(dust.position(), grains, &grain::position);
        columns.add(heat, grains, &grain::heat);
        run.begin(step, 0.1 * step);
        run.step_attributes().set("step", step);
        density.put_borrow(field);
        dust.put_borrow(columns);
        run.end(); /* until here, the arrays stay as they are */
    }
    run.close();
}

bool read(const char *path)
{
    bouma::dataset run = bouma::dataset::open(path);
    bouma::step step = run.step(run.last_step().step);
    bouma::variable density = step.grid("cube")["density"];
    bouma::particles dust = step.particles("dust");

    /* Every fourth sample of each axis; then a box, as double. */
    bouma::array<float> coarse = density.read<float>(2);
    bouma::box part({10, 20, 30}, {12, 24, 38});
    bouma::array<double> fine = density.read<double>(0, &part);
    /* A tenth of the warm ones. */
    bouma::query warm;
    warm.at_least(dust["heat"], 2500).quality(0.1);
    bouma::particle_data some = dust.read(warm);

    std::printf("level 2 has %d x %d x %d samples; %d of %d grains\n",
                static_cast<int>(coarse.shape[0]),
                static_cast<int>(coarse.shape[1]),
                static_cast<int>(coarse.shape[2]),
                static_cast<int>(some.count()), static_cast<int>(dust.count()));
    for (float value : some.column<float>("heat"))
        if (value < 2500)
            return false;
    return coarse.as<3>()(3, 5, 7) == 2 + 12 + 20 * 28 &&
           fine.as<3>()(1, 3, 7) == 2 + 11 + 23 * 37;
}

} // namespace

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "quickstart.bouma";
    try {
        write(path);
        bool same = read(path);
        std::printf("%s\n", same ? "the same" : "NOT the same");
        return same ? 0 : 1;
    } catch (const bouma::error &e) {
        std::fprintf(stderr, "quickstart: %s\n", e.what());
        return 1;
    }
}
